import Foundation
internal import OperationNetworkingSystem

/// Makes the numbers of entries: they grow with the time, so that those of one process and another are not
/// the same, and new ones are found in the index by their numbers.
final class EntryIdentifiers: Sendable {
    private let last = Locked(Int64(0))

    /// Microseconds since 1970 in the upper 53 bits, random ones below.
    func next() -> Int64 {
        last.withLock { last in
            last = max(last + 1024, WallClock.microseconds << 10)
            return last | Int64.random(in: 0..<1024)
        }
    }

    /// The least number of one that is made now.
    static var present: Int64 { WallClock.microseconds << 10 }

    /// The number that an entry had at least which was made `seconds` before the one with the number `id`.
    static func earliest(_ seconds: Int64, before id: Int64) -> Int64 { id - seconds << 30 }

    /// The same for one that is made `seconds` after it.
    static func latest(_ seconds: Int64, after id: Int64) -> Int64 { id + seconds << 30 }
}

/// The time of day.
enum WallClock {
    /// Since 1970.
    static var microseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
}
