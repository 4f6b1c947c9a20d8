import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct WorkLineTests {
    private let start = MonotonicTime(seconds: 100)
    private let stallTime = WorkLine<Int>.stallTime

    @Test func oneWorkerDoesAllWaitingWork() throws {
        var line = WorkLine<Int>(processorCount: 1)
        #expect(line.look(now: start) == nil)
        for work in 1...3 { line.append(work, now: start) }
        let workerNumber = line.look(now: start)
        let worker = try #require(workerNumber)
        #expect(line.look(now: start) == nil)
        #expect(line.nextLook == start + stallTime)
        #expect(line.next(for: worker, now: start) == 1)
        #expect(line.next(for: worker, now: start) == 2)
        #expect(line.next(for: worker, now: start) == 3)
        // Nothing waits for it, however long it takes.
        #expect(line.nextLook == nil)
        #expect(line.look(now: start + 10) == nil)
        #expect(line.next(for: worker, now: start + 10) == nil)
        // It has ended, and takes nothing any more.
        line.append(4, now: start)
        #expect(line.next(for: worker, now: start + 10) == nil)
        #expect(line.look(now: start + 10) != worker)
    }

    @Test func aWorkerThatIsHeldUpGetsHelp() throws {
        // Added one by one, as the line does: sums of fractions are rounded.
        var moments = [start]
        for index in 0..<3 { moments.append(moments[index] + stallTime) }
        var line = WorkLine<Int>(processorCount: 1)
        for work in 1...4 { line.append(work, now: start) }
        let firstNumber = line.look(now: start)
        let first = try #require(firstNumber)
        #expect(line.next(for: first, now: start) == 1)
        #expect(line.look(now: start + stallTime / 2) == nil)
        let secondNumber = line.look(now: moments[1])
        let second = try #require(secondNumber)
        #expect(line.nextLook == moments[2])
        #expect(line.next(for: second, now: moments[1]) == 2)
        // Each of them is held up.
        let thirdNumber = line.look(now: moments[2])
        let third = try #require(thirdNumber)
        #expect(line.next(for: third, now: moments[2]) == 3)
        // The first goes on: no other has to help.
        #expect(line.next(for: first, now: moments[3]) == 4)
        line.append(5, now: start)
        #expect(line.look(now: moments[3]) == nil)
        #expect(Set([first, second, third]).count == 3)
    }

    @Test func manyItemsHaveOneWorkerPerProcessor() {
        var line = WorkLine<Int>(processorCount: 3)
        for work in 0..<100 { line.append(work, now: start) }
        var workers: [Int] = []
        for step in 0..<40 {
            let now = start + Double(step) * stallTime / 4
            if let worker = line.look(now: now) { workers.append(worker) }
            // Each work takes a moment, and none is stuck.
            for worker in workers { _ = line.next(for: worker, now: now) }
        }
        #expect(workers.count == 3)
    }

    @Test func eachWorkIsDoneOnceAndInOrder() {
        var random = SeededGenerator(seed: 7)
        var line = WorkLine<Int>(processorCount: 1)
        var workers: [Int] = []
        var taken: [Int] = []
        var now = start
        for work in 0..<5000 {
            line.append(work, now: now)
            now = now + Double.random(in: 0..<2 * stallTime, using: &random)
            if let worker = line.look(now: now) { workers.append(worker) }
            guard let worker = workers.randomElement(using: &random) else { continue }
            if let work = line.next(for: worker, now: now) {
                taken.append(work)
            } else {
                workers.removeAll { $0 == worker }
            }
        }
        while let worker = workers.first ?? line.look(now: now) {
            while let work = line.next(for: worker, now: now) { taken.append(work) }
            workers.removeAll { $0 == worker }
        }
        #expect(taken == Array(0..<5000))
    }
}
