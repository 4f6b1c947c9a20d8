import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The last bytes of a sink, for comparing: whatever was written, is in hand, or waits.
struct KeptBytesTests {
    /// Bytes that are all different for as long as that is of use here.
    private static func bytes(_ range: Range<Int>) -> [UInt8] {
        range.map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    /// Each piece is written, but for the last ones: one in hand, which is half written, and one that waits.
    @Test(arguments: [1, 7, 40, 99, 100, 101, 250, 1000], [0, 1, 50, 100])
    func areThoseThatWereTakenLast(pieceLength: Int, keptCount: Int) {
        var state = SinkState(canBeEmptied: false)
        var hand: [UInt8] = []
        state.keptCount = keptCount
        state.begin()
        var count = 0
        for piece in 0..<40 {
            _ = state.append(Self.bytes(count..<count + pieceLength).span, now: .now)
            count += pieceLength
            if piece == 0 {
                _ = state.next(&hand)
                state.didOpen(canBeEmptied: false)
            }
            guard piece < 39, case .write(let range) = state.next(&hand) else { continue }
            _ = state.didWrite(piece == 38 ? range.count / 2 : range.count)
            let last = state.lastBytes(keptCount, hand)
            #expect(last == Self.bytes(max(0, count - keptCount)..<count))
        }
        #expect(state.lastBytes(keptCount, hand) == Self.bytes(max(0, count - keptCount)..<count))
    }

    /// Buffers of all sizes.
    @Test(arguments: [1, 1000, 8192, 65535, 65536, 300_000])
    func areThoseOfTheLastBuffers(length: Int) {
        var buffer = SinkBuffer()
        buffer.keptCount = 65536
        var all: [UInt8] = []
        var hand: [UInt8] = []
        for index in 0..<8 {
            let bytes = Self.bytes(index * 7..<index * 7 + length + index * 97)
            all += bytes
            buffer.append(bytes.span)
            let range = buffer.takeUp(&hand)
            _ = buffer.didWrite(range.count)
            for count in [10, 65536] {
                #expect(buffer.lastBytes(count, hand) == Array(all.suffix(count)))
            }
        }
    }

    @Test func areNotKeptUnlessTheyAreWanted() {
        var state = SinkState(canBeEmptied: false)
        var hand: [UInt8] = []
        state.begin()
        for piece in 0..<3 {
            _ = state.append(Self.bytes(0..<100).span, now: .now)
            if piece == 0 {
                _ = state.next(&hand)
                state.didOpen(canBeEmptied: false)
            }
            _ = state.next(&hand)
            _ = state.didWrite(100)
        }
        // What is in hand costs nothing.
        #expect(state.lastBytes(1000, hand).count == 100)
    }

    @Test func areGoneWhenItIsEmptied() {
        var state = SinkState(canBeEmptied: true)
        var hand: [UInt8] = []
        state.keptCount = 1000
        state.begin()
        _ = state.append(Self.bytes(0..<100).span, now: .now)
        _ = state.next(&hand)
        state.didOpen(canBeEmptied: true)
        _ = state.next(&hand)
        _ = state.didWrite(100)
        _ = state.empty()
        #expect(state.lastBytes(1000, hand).isEmpty)
        _ = state.append(Self.bytes(5..<10).span, now: .now)
        #expect(state.lastBytes(1000, hand) == Self.bytes(5..<10))
        #expect(state.next(&hand) == .empty)
        state.didEmpty()
        _ = state.next(&hand)
        #expect(state.lastBytes(1000, hand) == Self.bytes(5..<10))
    }
}
