import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct BinaryHeapTests {
    @Test func anEmptyHeapHasNoElements() {
        var heap = BinaryHeap<Int, String>()
        #expect(heap.isEmpty && heap.count == 0 && heap.first == nil)
        #expect(heap.removeFirst() == nil)
    }

    @Test(arguments: 0...40)
    func keysLeaveInTheirOrderWithTheirValues(count: Int) {
        var random = SeededGenerator(seed: UInt64(count + 1))
        // Few different keys, so that many are equal.
        let entries = (0..<count).map { (key: Int.random(in: 0..<10, using: &random), value: $0) }
        var heap = BinaryHeap<Int, Int>()
        for (key, value) in entries { heap.insert(value, key) }
        #expect(heap.count == count && heap.first?.key == entries.map(\.key).min())
        heap.removeAll { $0 % 3 == 0 }

        var removed: [(key: Int, value: Int)] = []
        while let entry = heap.removeFirst() { removed.append(entry) }
        #expect(heap.isEmpty)
        #expect(removed.map(\.key) == removed.map(\.key).sorted())
        #expect(removed.allSatisfy { entries[$0.value].key == $0.key })
        #expect(removed.map(\.value).sorted() == (0..<count).filter { $0 % 3 != 0 })
    }
}
