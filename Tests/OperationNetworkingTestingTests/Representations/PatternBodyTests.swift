import Foundation
import OperationNetworkingTesting
import Testing

struct PatternBodyTests {
    private let pattern = PatternBody(seed: 3, length: 50_000)

    @Test(arguments: [0..<0, 0..<1, 3..<9, 7..<4096, 4095..<4097, 4093..<20_000, 49_999..<50_000, 0..<50_000])
    func aRangeHasTheBytesOfTheWhole(range: Range<Int>) {
        #expect(pattern.data(in: range) == pattern.data.subdata(in: range))
        #expect(AnswerBody.pattern(pattern)[range].data == pattern.data.subdata(in: range))
    }

    @Test func aSeedAlwaysMakesTheSameBytes() {
        #expect(PatternBody(seed: 3, length: 60_000).data.prefix(50_000) == pattern.data)
        #expect(PatternBody(seed: 4, length: 50_000).data != pattern.data)
        #expect(PatternBody(seed: 3, length: 50_000) == pattern)
        #expect(Array(PatternBody(length: 4).data) == [0xC1, 0x5C, 0x02, 0x89])
    }

    @Test func noPageIsLikeAnother() {
        let pages = (0..<12).map { pattern.data(in: $0 * 4096..<($0 + 1) * 4096) }
        #expect(Set(pages).count == 12)
    }

    @Test func theFirstDifferenceIsFound() {
        var data = pattern.data
        #expect(pattern.firstDifference(from: data) == nil)
        #expect(pattern.firstDifference(from: data.prefix(123)) == 123)
        #expect(pattern.firstDifference(from: data + Data([0])) == 50_000)
        data[41_003] ^= 1
        #expect(pattern.firstDifference(from: data) == 41_003)
    }

    @Test func aFileIsCheckedAgainstThePattern() throws {
        let directory = try TemporaryDirectory()
        let long = PatternBody(length: 3 << 20)
        var data = long.data
        try data.write(to: directory.file())
        #expect(try long.firstDifference(fromFile: directory.file()) == nil)
        data[(2 << 20) + 5] ^= 1
        try data.write(to: directory.file())
        #expect(try long.firstDifference(fromFile: directory.file()) == (2 << 20) + 5)
        try data.prefix(1 << 20).write(to: directory.file())
        #expect(try long.firstDifference(fromFile: directory.file()) == 1 << 20)
        #expect(throws: (any Error).self) { try long.firstDifference(fromFile: directory.file("none")) }
    }

    @Test func aBodyOfPiecesHasTheirBytes() {
        let body = AnswerBody.text("0123456789").switching(after: 4, to: "abcdefgh")
        #expect(body.count == 8)
        #expect(body[2..<6].data == Data("23ef".utf8))
        #expect(body[0..<2].data == Data("01".utf8))
        #expect(body[5..<8].data == Data("fgh".utf8))
    }
}
