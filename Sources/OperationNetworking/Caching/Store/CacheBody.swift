import Foundation
internal import OperationNetworkingSystem

/// A body in memory, in pieces of equal length, so that it grows without being copied.
struct CacheBody: Sendable {
    /// The length of every piece but the last, in bytes.
    static let pieceLength = 64 * 1024

    private(set) var pieces: [Data] = []
    private(set) var count = 0

    init() {}

    init(_ bytes: Data) {
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = min(start + Self.pieceLength, bytes.endIndex)
            // One that is a whole piece is kept as it is.
            pieces.append(start == 0 && end == bytes.count ? bytes : Data(bytes[start..<end]))
            start = end
        }
        count = bytes.count
    }

    /// Copies the bytes to the end.
    mutating func append(_ bytes: Span<UInt8>) {
        var done = 0
        while done < bytes.count {
            if count % Self.pieceLength == 0 { pieces.append(Data()) }
            let room = Self.pieceLength - count % Self.pieceLength
            let taken = min(room, bytes.count - done)
            pieces[pieces.count - 1].append(bytes.extracting(done..<done + taken))
            done += taken
            count += taken
        }
    }

    /// Adds a piece after whole ones; it is shared, not copied.
    mutating func append(piece: Data) {
        pieces.append(piece)
        count += piece.count
    }

    /// Some bytes from `offset` on, at most `limit`: those up to the end of a piece, which are not copied if
    /// they are all of it.
    func bytes(at offset: Int64, atMost limit: Int) -> Data {
        guard offset >= 0, offset < Int64(count), limit > 0 else { return Data() }
        let piece = pieces[Int(offset) / Self.pieceLength]
        let start = Int(offset) % Self.pieceLength
        let end = min(start + limit, piece.count)
        return start == 0 && end == piece.count ? piece : Data(piece[start..<end])
    }

    /// All of it, in one.
    var data: Data {
        guard pieces.count != 1 else { return pieces[0] }
        var data = Data(capacity: count)
        for piece in pieces { data.append(piece) }
        return data
    }
}
