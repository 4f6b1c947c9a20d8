import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct FifoTests {
    @Test func whatCameFirstLeavesFirst() {
        var fifo = Fifo<Int>()
        #expect(fifo.popFirst() == nil)
        fifo.append(1)
        fifo.append(contentsOf: [2, 3])
        #expect(fifo.popFirst() == 1)
        fifo.append(4)
        #expect([fifo.popFirst(), fifo.popFirst(), fifo.popFirst(), fifo.popFirst()] == [2, 3, 4, nil])
    }

    @Test func itDoesWhatAnArrayDoes() {
        var random = SeededGenerator(seed: 1)
        var fifo = Fifo<Int>()
        var model: [Int] = []
        for step in 0..<20_000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                let more = Array(step..<step + Int.random(in: 0..<20, using: &random))
                fifo.append(contentsOf: more)
                model.append(contentsOf: more)
            case 1:
                fifo.append(step)
                model.append(step)
            default:
                #expect(fifo.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
        }
    }

    /// As under a steady load.
    @Test func itStaysSmallThoughItIsNeverEmpty() {
        var fifo = Fifo<Int>()
        for number in 0..<10 { fifo.append(number) }
        for number in 10..<100_000 {
            fifo.append(number)
            #expect(fifo.popFirst() == number - 10)
        }
        #expect(fifo.capacity < 1_000)
    }

    @Test(arguments: [0, 10])
    func theMemoryOfABurstIsFreed(left: Int) {
        var fifo = Fifo<Int>()
        for number in 0..<100_000 { fifo.append(number) }
        for number in 0..<100_000 - left { #expect(fifo.popFirst() == number) }
        #expect(fifo.capacity < 3_000)
        for number in 100_000 - left..<100_000 { #expect(fifo.popFirst() == number) }
        #expect(fifo.isEmpty)
    }

    @Test func itReleasesRemovedElements() {
        final class Thing {}
        var fifo = Fifo<Thing>()
        weak var first: Thing?
        do {
            let thing = Thing()
            first = thing
            fifo.append(thing)
            fifo.append(Thing())
        }
        #expect(first != nil)
        _ = fifo.popFirst()
        #expect(first == nil)
    }
}
