internal import OperationNetworkingSystem

// Files on their way to the disk.
extension DiskIndex {
    /// Entries whose files are not known to be on the disk: at most `count`, and none with a number among the
    /// `youngest`.
    func unsynchronized(but youngest: ClosedRange<Int64>?, _ count: Int64) throws -> [Int64] {
        let statement = try statement(
            "SELECT id FROM entries WHERE boot IS NOT NULL AND NOT id BETWEEN ? AND ? LIMIT ?"
        )
        defer { statement.reset() }
        // Without a range, one that has no number in it.
        try statement.bind(youngest?.lowerBound ?? 0, at: 1)
        try statement.bind(youngest?.upperBound ?? -1, at: 2)
        try statement.bind(count, at: 3)
        var found: [Int64] = []
        while try statement.step() { found.append(statement.integer(0)) }
        return found
    }

    /// Notes entries whose files are on the disk.
    func noteSynchronized(_ ids: [Int64]) throws {
        let statement = try statement("UPDATE entries SET boot = NULL WHERE id = ?")
        defer { statement.reset() }
        for id in ids {
            try statement.bind(id, at: 1)
            try statement.run()
        }
    }
}
