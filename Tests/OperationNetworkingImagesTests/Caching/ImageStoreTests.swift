import Testing

@testable import OperationNetworkingImages

/// The cache's decisions, without images: the values are their own names.
@Suite struct ImageStoreTests {
    private func store(_ capacity: Int = 100, _ preferred: Int = 60) -> ImageStore<String, String> {
        ImageStore(capacity: capacity, preferredUsage: preferred)
    }

    @Test(
        "Used bytes after each insertion, and which images are removed",
        arguments: [
            ([("a", 40), ("b", 40)], 80, []),
            ([("a", 50), ("b", 50)], 100, []),
            ([("a", 40), ("b", 40), ("c", 40)], 40, ["a", "b"]),
            ([("a", 10), ("b", 40), ("c", 60)], 60, ["a", "b"]),
            ([("a", 40), ("b", 1), ("c", 60)], 60, ["a", "b"]),
            ([("a", 101)], 0, ["a"]),
            ([("a", 10), ("a", 20)], 20, ["a"]),
            ([("a", 100), ("a", 20)], 20, ["a"]),
            ([("a", 0), ("b", -5)], 0, []),
        ] as [([(String, Int)], Int, [String])]
    )
    func keepsWithinItsLimits(added: [(String, Int)], usage: Int, gone: [String]) {
        var store = store()
        var went: [String] = []
        for (key, cost) in added { went += store.add(key, for: key, cost: cost) }
        #expect(store.usage == usage)
        #expect(went.sorted() == gone)
    }

    /// Their entries take more than they do.
    @Test func tinyImagesAreCounted() {
        let most = ImageStore<Int, Int>.maximumCount
        var store = ImageStore<Int, Int>(capacity: 100_000_000, preferredUsage: 60_000_000)
        for key in 0..<most { #expect(store.add(key, for: key, cost: 4).isEmpty) }
        #expect(store.image(for: 0) == 0)
        let gone = store.add(most, for: most, cost: 4)
        #expect(store.count == most / 10 * 6)
        #expect(gone.count == most + 1 - store.count && !gone.contains(0) && gone.first == 1)
        #expect(store.usage == 4 * store.count)
    }

    @Test func recentlyUsedImagesStayLonger() {
        var store = store()
        for key in ["a", "b", "c"] { _ = store.add(key, for: key, cost: 30) }
        var found = store.image(for: "a")
        #expect(found == "a")
        let gone = store.add("d", for: "d", cost: 30)
        #expect(gone == ["b", "c"])
        found = store.image(for: "b")
        #expect(found == nil)
        #expect(store.usage == 60)
    }

    @Test func removingCountsDown() {
        var store = store()
        _ = store.add("a", for: "a", cost: 30)
        _ = store.add("b", for: "b", cost: 20)
        let removed = [store.remove("a"), store.remove("a")]
        #expect(removed == ["a", nil])
        #expect(store.usage == 20)
        let all = store.removeAll()
        #expect(all == ["b"])
        #expect(store.usage == 0 && store.count == 0)
    }

    @Test(arguments: [(100, 60, 100, 60), (100, 200, 100, 100), (-1, -1, 0, 0), (50, -1, 50, 0)])
    func limitsAreSane(capacity: Int, preferred: Int, expectedCapacity: Int, expectedPreferred: Int) {
        let store = store(capacity, preferred)
        #expect(store.capacity == expectedCapacity)
        #expect(store.preferredUsage == expectedPreferred)
    }
}
