internal import OperationNetworkingSystem

// Invalidations by other processes.
extension DiskIndex {
    /// Marks an entry that is about to be added, if its URL was invalidated while it was on its way (RFC 9111
    /// §4.4): another process has marked what is stored under its key, which the entry may replace. Within
    /// the transaction that adds it, before anything is removed. Not if the mark is on a row that is hidden:
    /// no look-up tells of it, so it would mark whatever comes, for ever.
    func takeInvalidation(
        to entry: inout CacheEntry,
        of key: CacheKey,
        _ hash: Int64,
        _ target: EntryTarget,
        _ hidden: HiddenEntries
    ) throws {
        guard let known = target.invalidated, !entry.head.isInvalidated else { return }
        let isMarked = try hasInvalidated(key, hash) { known.contains($0) || hidden.contains($0, key) }
        if isMarked { entry.head.isInvalidated = true }
    }

    /// Whether an entry of the key is invalidated that is not known.
    private func hasInvalidated(
        _ key: CacheKey,
        _ hash: Int64,
        besides isKnown: (Int64) -> Bool
    ) throws -> Bool {
        let statement = try statement(
            "SELECT id, substr(head, 1, 2) FROM entries WHERE hash = ? AND url = ? AND partition = ?"
        )
        defer { statement.reset() }
        try statement.bind(hash, at: 1)
        try statement.bind(key.url, at: 2)
        try statement.bind(key.partition, at: 3)
        while try statement.step() {
            let id = statement.integer(0)
            if !isKnown(id), CachedHead.isInvalidated(encoded: statement.bytes(1)) { return true }
        }
        return false
    }
}
