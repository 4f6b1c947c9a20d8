import Foundation
internal import OperationNetworkingSystem

/// The checksums of a body in a file: one for each block of 64 KiB, so that any part can be read and checked
/// by itself. They are in the index, in the row of the entry: 4 bytes for a block, 64 KiB for 1 GiB.
struct BodyChecksums: Hashable, Sendable {
    /// The length of every block but the last, in bytes.
    static let blockLength = Int64(CacheBody.pieceLength)

    private var blocks: [Checksum] = []
    /// The number of bytes.
    private(set) var count: Int64 = 0

    init() {}

    /// Adds the next bytes of the body.
    mutating func append(_ bytes: Span<UInt8>) {
        var done = 0
        while done < bytes.count {
            if count % Self.blockLength == 0 { blocks.append(Checksum()) }
            let room = Int(Self.blockLength - count % Self.blockLength)
            let taken = min(room, bytes.count - done)
            blocks[blocks.count - 1].add(bytes.extracting(done..<done + taken))
            done += taken
            count += Int64(taken)
        }
    }

    // MARK: - Reading

    /// The bytes of the whole blocks that have those of `range` in them, all of which are in the body.
    func blocks(of range: Range<Int64>) -> Range<Int64> {
        let first = range.lowerBound / Self.blockLength * Self.blockLength
        let last = (range.upperBound + Self.blockLength - 1) / Self.blockLength * Self.blockLength
        return first..<min(last, count)
    }

    /// The bytes of a body's file in `range`.
    ///
    /// - Throws: ``BodyError``: they are not the ones that were written; `SystemError`.
    func read(_ range: Range<Int64>, of file: PartFile) throws -> Data {
        guard !range.isEmpty else { return Data() }
        guard range.lowerBound >= 0, range.upperBound <= count else { throw BodyError.missing }
        let read = blocks(of: range)
        let bytes = try file.read(read.count, at: read.lowerBound)
        guard bytes.count == read.count else { throw BodyError.missing }
        var (start, number) = (0, Int(read.lowerBound / Self.blockLength))
        while start < bytes.count {
            let end = min(start + Int(Self.blockLength), bytes.count)
            var checksum = Checksum()
            checksum.add(bytes.span.extracting(start..<end))
            guard checksum == blocks[number] else { throw BodyError.damaged }
            (start, number) = (end, number + 1)
        }
        let wanted = Int(range.lowerBound - read.lowerBound)..<Int(range.upperBound - read.lowerBound)
        return Data(bytes[wanted])
    }

    // MARK: - The index

    /// Four octets for each block, the low ones first.
    var encoded: Data {
        var octets = Data(capacity: blocks.count * 4)
        for block in blocks {
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                octets.append(UInt8(truncatingIfNeeded: block.value >> shift))
            }
        }
        return octets
    }

    /// Whether a body of `count` bytes has as many checksums as `length` octets hold.
    static func isLength(_ length: Int, forBodyOf count: Int64) -> Bool {
        guard count >= 0, length % 4 == 0 else { return false }
        return Int64(length / 4) == count / blockLength + (count % blockLength == 0 ? 0 : 1)
    }

    /// Reads the checksums of a body of `count` bytes; `nil`: there are more or fewer of them.
    init?(encoded: [UInt8], count: Int64) {
        guard Self.isLength(encoded.count, forBodyOf: count) else { return nil }
        blocks = stride(from: 0, to: encoded.count, by: 4).map { start in
            let low = UInt32(encoded[start]) | UInt32(encoded[start + 1]) << 8
            let high = UInt32(encoded[start + 2]) << 16 | UInt32(encoded[start + 3]) << 24
            return Checksum(high | low)
        }
        self.count = count
    }
}
