import Foundation
import Glibc
import OperationNetworkingSystem
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GrowingDataTests {
    /// Each 1,000 bytes show their position. Of memset(3): the bytes are many, and sanitizers are slow.
    private func pattern(_ range: Range<Int>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            var start = range.lowerBound
            while let address = buffer.baseAddress, start < range.upperBound {
                let end = min(range.upperBound, (start / 1000 + 1) * 1000)
                memset(address + (start - range.lowerBound), Int32(start / 1000 * 37 % 256), end - start)
                start = end
            }
            count = range.count
        }
    }

    private func append(_ range: Range<Int>, to data: inout GrowingData) {
        data.append(pattern(range).span)
    }

    /// Lengths around those from which on pages are asked for, and pieces that are no pages.
    @Test(
        arguments: [0, 1, 4 << 20, 4 << 20 + 1, 16 << 20 + 4097, 21 << 20],
        [102_400, 5_000_003]
    )
    func itHoldsWhatWasAppended(length: Int, piece: Int) {
        for expected in [nil, Int64(length)] {
            var data = GrowingData()
            if let expected { data.expect(expected) }
            for start in stride(from: 0, to: length, by: piece) {
                append(start..<min(length, start + piece), to: &data)
            }
            #expect(data.count == length)
            #expect(data.bytes == Data(pattern(0..<length)))
        }
    }

    /// The copy keeps its bytes, and the pages are asked for in the buffer that is written to.
    @Test func aCopyThatIsTakenMeanwhileStaysAsItWas() {
        var data = GrowingData()
        var copies: [Data] = []
        let piece = 1 << 20
        for index in 0..<24 {
            append(index * piece..<(index + 1) * piece, to: &data)
            if index.isMultiple(of: 3) { copies.append(data.bytes) }
        }
        for (index, copy) in copies.enumerated() {
            #expect(copy == Data(pattern(0..<(3 * index + 1) * piece)))
        }
        #expect(data.bytes == Data(pattern(0..<24 * piece)))
    }

    @Test func itContinuesAfterBytesOfAnEarlierBody() {
        // A slice, whose indices do not begin with 0.
        let earlier = Data([0] + pattern(0..<6 << 20)).dropFirst()
        var data = GrowingData(earlier)
        append(6 << 20..<20 << 20, to: &data)
        #expect(Data(data.bytes) == Data(pattern(0..<20 << 20)))
    }

    /// A promise costs no memory: pages are asked for as bytes come.
    @Test func littleIsAllocatedInAdvance() throws {
        var data = GrowingData()
        data.expect(1 << 40)
        let before = try residentBytes()
        append(0..<5 << 20, to: &data)
        // The pattern itself takes five.
        #expect(try residentBytes() - before < 14 << 20)
    }

    private func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 4096
    }
}
