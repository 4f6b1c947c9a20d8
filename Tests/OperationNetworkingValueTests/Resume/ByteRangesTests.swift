import Foundation
import Testing

@testable import OperationNetworking

@Suite struct ByteRangesTests {
    private func ranges(_ bounds: Range<Int64>...) -> ByteRanges {
        var ranges = ByteRanges()
        for range in bounds { ranges.insert(range) }
        return ranges
    }

    @Test func adjacentRangesAreMerged() {
        #expect(ranges(0..<5, 5..<9).ranges == [0..<9])
        #expect(ranges(5..<9, 0..<5).ranges == [0..<9])
        #expect(ranges(0..<2, 6..<8, 4..<5, 1..<7).ranges == [0..<8])
        #expect(ranges(6..<8, 0..<2, 3..<3).ranges == [0..<2, 6..<8])
    }

    @Test(
        arguments: [
            ([], 0, 0), ([0..<5], 5, 5), ([0..<5, 9..<12], 5, 12), ([3..<5], 0, 5),
        ] as [([Range<Int64>], Int64, Int64)]
    )
    func onlyTheBytesFromTheFirstOneOnCount(bounds: [Range<Int64>], prefix: Int64, end: Int64) {
        var ranges = ByteRanges()
        for range in bounds { ranges.insert(range) }
        #expect(ranges.prefix == prefix && ranges.end == end && ranges.isPrefix == (prefix == end))
    }

    @Test func removedBytesAreNotIncluded() {
        var cut = ranges(0..<5, 9..<12)
        cut.cut(to: 10)
        #expect(cut.ranges == [0..<5, 9..<10])
        cut.cut(to: 7)
        #expect(cut.ranges == [0..<5])
    }

    @Test func aSetIsAListOfPairs() throws {
        let set = ranges(0..<5, 9..<12)
        let text = try JSONEncoder().encode(set)
        #expect(String(decoding: text, as: UTF8.self) == "[[0,5],[9,12]]")
        #expect(try JSONDecoder().decode(ByteRanges.self, from: text) == set)
    }

    @Test(arguments: ["[[0]]", "[[5,5]]", "[[-1,5]]", "[[0,5],[5,9]]", "[[9,12],[0,5]]", "[[0,5,9]]", "{}"])
    func invalidSetsAreRefused(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ByteRanges.self, from: Data(text.utf8))
        }
    }
}
