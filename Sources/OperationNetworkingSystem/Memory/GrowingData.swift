import COperationNetworking
package import Foundation

/// A growing buffer for a body of any length.
///
/// A long body would cause a page fault for each 4 KiB, which costs as much as the copy. So pages are
/// populated 2 MiB at a time (madvise(2), `MADV_POPULATE_WRITE`), and never further ahead of the received
/// bytes.
package struct GrowingData: Sendable {
    /// The maximum reservation for an announced length; further memory is allocated only as bytes arrive.
    private static let maximumReservation = 16 << 20
    /// The length from which pages are populated, and how many bytes ahead.
    private static let long = 4 << 20
    private static let ahead = 2 << 20

    package private(set) var bytes: Data
    /// The end of the reserved capacity, and of the populated pages.
    private var room = 0
    private var ready = 0

    package init(_ bytes: Data = Data()) {
        self.bytes = bytes
    }

    package var count: Int { bytes.count }

    /// Reserves capacity for `total` bytes, up to a limit.
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
        // Each time, because a copy may have been created without the capacity.
        bytes.reserveCapacity(room)
        let first = max(bytes.count, ready)
        bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            cmemory_prefault(start + first, start + next)
        }
        ready = next
    }
}
