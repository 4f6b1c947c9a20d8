import Foundation
internal import OperationNetworkingSystem

/// A body in memory, in pieces of equal length, so that it can grow without being copied.
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
            // Bytes that are exactly one piece are shared.
            pieces.append(start == 0 && end == bytes.count ? bytes : Data(bytes[start..<end]))
            start = end
        }
        count = bytes.count
    }

    /// Appends a copy of the bytes.
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

    /// Appends a piece after full ones. The piece is shared, not copied.
    mutating func append(piece: Data) {
        pieces.append(piece)
        count += piece.count
    }

    /// Returns at most `limit` bytes from `offset` on, up to the end of the piece. A whole piece is shared,
    /// not copied.
    func bytes(at offset: Int64, atMost limit: Int) -> Data {
        guard offset >= 0, offset < Int64(count), limit > 0 else { return Data() }
        let piece = pieces[Int(offset) / Self.pieceLength]
        let start = Int(offset) % Self.pieceLength
        let end = min(start + limit, piece.count)
        return start == 0 && end == piece.count ? piece : Data(piece[start..<end])
    }

    /// The whole body, contiguous.
    var data: Data {
        guard pieces.count != 1 else { return pieces[0] }
        var data = Data(capacity: count)
        for piece in pieces { data.append(piece) }
        return data
    }
}
