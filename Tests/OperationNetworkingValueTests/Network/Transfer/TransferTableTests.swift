import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct TransferTableTests {
    @Test func aValueIsFoundByItsTransfer() {
        var table = TransferTable<String>()
        let (one, other) = (TransferID.next(), TransferID.next())
        #expect(table[one] == nil)
        table[one] = "a"
        table[other] = "b"
        #expect((table[one], table[other], table.count) == ("a", "b", 2))
        table[one]?.append("c")
        #expect(table[one] == "ac")
        #expect(table.remove(one) == "ac")
        #expect(table.remove(one) == nil)
        #expect((table[one], table[other], table.count) == (nil, "b", 1))
        table[other] = nil
        #expect(table.isEmpty)
    }

    @Test func aChangeOfWhatIsNotThereAddsNothing() {
        var table = TransferTable<String>()
        table[.next()]?.append("a")
        table[.next()] = nil
        #expect(table.isEmpty)
        // The number of a handle that has none.
        #expect(table[TransferID(tag: 0)] == nil)
    }

    /// Steps: 1, as numbers are given out; a large power of two, as of those that last.
    @Test(arguments: [1, 1024, 1 << 32] as [UInt64])
    func aTableDoesWhatADictionaryDoes(step: UInt64) {
        var random = SeededGenerator(seed: step)
        var table = TransferTable<Int>()
        var model: [TransferID: Int] = [:]
        let ids = (1...200).map { TransferID(tag: $0 &* step) }
        for round in 0..<20_000 {
            // Few at first, many then, few again.
            let isGrowing = (round / 4_000).isMultiple(of: 2)
            let id = ids[Int.random(in: 0..<ids.count, using: &random)]
            if Int.random(in: 0..<3, using: &random) == 0 {
                table[id]? += 1
                model[id]? += 1
            } else if Bool.random(using: &random) == isGrowing {
                table[id] = round
                model[id] = round
            } else {
                #expect(table.remove(id) == model.removeValue(forKey: id))
            }
            #expect(table.count == model.count)
            #expect(table[id] == model[id])
        }
        for id in ids { #expect(table[id] == model[id]) }
    }

    @Test func eachValueCanBeChanged() {
        var table = TransferTable<Int>()
        let ids = (0..<100).map { _ in TransferID.next() }
        for (number, id) in ids.enumerated() { table[id] = number }
        table.changeAll { $0 *= 2 }
        #expect(ids.map { table[$0] } == (0..<100).map { 2 * $0 })
    }

    @Test func aTableReleasesRemovedValues() {
        final class Thing {}
        var table = TransferTable<Thing>()
        let id = TransferID.next()
        weak var thing: Thing?
        do {
            let made = Thing()
            thing = made
            table[id] = made
        }
        #expect(thing != nil)
        #expect(table.remove(id) === thing)
        #expect(thing == nil)
    }
}
