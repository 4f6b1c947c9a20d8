/// The entries that are being written, and what happened to their keys meanwhile: a response that was on its
/// way when its key was removed is not stored.
struct WriterTable: Sendable {
    private struct Row {
        var count = 0
        var removals = 0
        var invalidations = 0
    }

    /// The moment at which a writer began, as the numbers of what happened before.
    struct Start: Sendable {
        fileprivate var generation: Int
        fileprivate var removals: Int
        fileprivate var invalidations: Int
    }

    /// The number of removals of everything.
    private var generation = 0
    private var rows: [CacheKey: Row] = [:]

    mutating func begin(_ key: CacheKey) -> Start {
        var row = rows[key] ?? Row()
        row.count += 1
        rows[key] = row
        return Start(generation: generation, removals: row.removals, invalidations: row.invalidations)
    }

    /// - Returns: whether the response may still be stored, and whether it has to be validated before use.
    mutating func end(_ key: CacheKey, _ start: Start) -> (isWanted: Bool, isInvalidated: Bool) {
        let row = rows[key] ?? Row()
        if row.count <= 1 { rows[key] = nil } else { rows[key]?.count -= 1 }
        return (
            start.generation == generation && start.removals == row.removals,
            start.invalidations != row.invalidations
        )
    }

    mutating func didRemove(_ key: CacheKey) {
        rows[key]?.removals += 1
    }

    mutating func didRemoveAll() {
        generation += 1
    }

    mutating func didInvalidate(_ key: CacheKey) {
        rows[key]?.invalidations += 1
    }
}
