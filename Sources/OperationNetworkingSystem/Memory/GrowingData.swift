import COperationNetworking
package import Foundation

/// Bytes in memory that grow by pieces, for a body of any length.
///
/// A long one would take a page fault for each 4 KiB, which costs as much as the copy; so pages are asked for
/// 2 MiB at a time (madvise(2), `MADV_POPULATE_WRITE`), never more than that ahead of what has come.
package struct GrowingData: Sendable {
    /// A promise of more bytes is believed up to here; more memory is taken only as bytes come.
    private static let maximumReservation = 16 << 20
    /// The length from which on pages are asked for ahead, and how many bytes of them.
    private static let long = 4 << 20
    private static let ahead = 2 << 20

    package private(set) var bytes: Data
    /// The end of what there is room for, and of the pages that are there.
    private var room = 0
    private var ready = 0

    package init(_ bytes: Data = Data()) {
        self.bytes = bytes
    }

    package var count: Int { bytes.count }

    /// Makes room for `total` bytes, unless that is very many.
    package mutating func expect(_ total: Int64) {
        bytes.reserveCapacity(Int(min(total, Int64(Self.maximumReservation))))
    }

    package mutating func append(_ piece: Span<UInt8>) {
        let end = bytes.count + piece.count
        if end > Self.long, end > ready { prefault(to: end) }
        bytes.append(piece)
    }

    private mutating func prefault(to end: Int) {
        let next = end + Self.ahead
        if next > room { room = max(next, room + room / 4) }
        // Each time: an owner of a copy may have left a buffer without room.
        bytes.reserveCapacity(room)
        let first = max(bytes.count, ready)
        bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            cmemory_prefault(start + first, start + next)
        }
        ready = next
    }
}
