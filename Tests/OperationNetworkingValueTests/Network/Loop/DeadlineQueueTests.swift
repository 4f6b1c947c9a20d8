import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DeadlineQueueTests {
    @Test func nothingIsDueInAnEmptyQueue() {
        var queue = DeadlineQueue()
        #expect(queue.next == nil)
        #expect(queue.removeFirst(dueAt: MonotonicTime(seconds: 1e9)) == nil)
    }

    @Test func whatIsNotDueStays() {
        var queue = DeadlineQueue()
        let id = TransferID.next()
        queue.insert(id, at: MonotonicTime(seconds: 2))
        #expect(queue.removeFirst(dueAt: MonotonicTime(seconds: 1.999)) == nil)
        #expect(queue.next == MonotonicTime(seconds: 2))
        #expect(queue.removeFirst(dueAt: MonotonicTime(seconds: 2)) == id)
        #expect(queue.next == nil)
    }

    @Test(arguments: 1...20)
    func deadlinesLeaveInTheirOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = DeadlineQueue()
        var model: [(deadline: MonotonicTime, id: TransferID)] = []
        for _ in 0..<2_000 {
            if Bool.random(using: &random) {
                // Few different moments, so that many are equal.
                let deadline = MonotonicTime(seconds: Double(Int.random(in: 0..<50, using: &random)))
                let id = TransferID.next()
                queue.insert(id, at: deadline)
                model.append((deadline, id))
            } else if Int.random(in: 0..<50, using: &random) == 0 {
                let over = Set(model.map(\.id).filter { _ in Bool.random(using: &random) })
                queue.removeAll { over.contains($0) }
                model.removeAll { over.contains($0.id) }
                #expect(queue.count == model.count)
            } else {
                let now = MonotonicTime(seconds: Double(Int.random(in: 0..<50, using: &random)))
                let earliest = model.map(\.deadline).min()
                #expect(queue.next == earliest)
                let removed = queue.removeFirst(dueAt: now)
                guard let earliest, earliest <= now else {
                    #expect(removed == nil)
                    continue
                }
                let index = model.firstIndex { $0.id == removed }
                #expect(index.map { model[$0].deadline } == earliest)
                if let index { model.remove(at: index) }
            }
        }
        let last = MonotonicTime(seconds: 50)
        var rest: [TransferID] = []
        while let id = queue.removeFirst(dueAt: last) { rest.append(id) }
        #expect(Set(rest) == Set(model.map(\.id)))
        let order = rest.compactMap { id in model.first { $0.id == id }?.deadline }
        #expect(order == order.sorted())
    }

    /// As the transfers of a busy process: each is entered with the same delay, and over long before it is due.
    @Test func comparisonsGrowWithTheNumberAndItsLogarithm() {
        for count in [1 << 10, 1 << 14] {
            var queue = DeadlineQueue()
            for number in 0..<count {
                queue.insert(.next(), at: MonotonicTime(seconds: Double((number * 7919) % count)))
            }
            while queue.removeFirst(dueAt: MonotonicTime(seconds: Double(count))) != nil {}
            let logarithm = count.trailingZeroBitCount
            #expect((count...4 * count * logarithm).contains(queue.steps), "\(count): \(queue.steps)")
        }
    }
}
