import Foundation
internal import OperationNetworkingSystem

/// Single rows, and what housekeeping asks of all of them. Used on the index's queue.
extension DiskTier {
    /// Whether the index has the entry; `nil`: it cannot be read.
    func contains(_ id: Int64) -> Bool? { attempt { try $0.contains(id) } }

    /// Files of entries before the one with the number `id` that may not be on the disk, some at a time; and
    /// whether these are the last ones.
    func unsynchronized(
        but youngest: ClosedRange<Int64>? = nil
    ) -> (ids: [Int64], isLast: Bool) {
        let limit: Int64 = 256
        let ids = attempt { try $0.unsynchronized(but: youngest, limit) } ?? []
        return (ids, ids.count < limit)
    }

    func noteSynchronized(_ ids: [Int64]) throws {
        let index = try opened()
        try index.transaction { try index.noteSynchronized(ids) }
    }

    /// The entry with a number, as the index has it.
    func row(_ id: Int64) -> RowFinding {
        guard let row = attempt({ try $0.row(id) }) else { return .unknown }
        return row.map { .found($0) } ?? .missing
    }

    func note(_ used: [Int64: Int64]) throws {
        let index = try opened()
        try index.transaction { try index.note(used) }
    }

    func update(_ entry: CacheEntry, to head: CachedHead) throws {
        try opened().update(entry, to: head)
    }

    func invalidate(_ key: CacheKey) throws { try opened().invalidate(key) }

    enum RowFinding {
        case found(DiskIndex.Row)
        /// There is none, or it is damaged.
        case missing
        /// The index cannot be read now.
        case unknown
    }

    /// The cost of the next entries with a number above `id`, and the number of the last one; `nil`: there
    /// are none, or they cannot be read.
    func cost(above id: Int64) -> (bytes: Int64, last: Int64)? {
        attempt { try $0.cost(above: id, 256) } ?? nil
    }
}
