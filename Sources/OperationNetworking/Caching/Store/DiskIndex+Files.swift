internal import OperationNetworkingSystem

// Files on their way to the disk.
extension DiskIndex {
    /// Entries, with the lengths of their files, that are not known to be on the disk: at most `count`, and
    /// none with a number among the `youngest`.
    func unsynchronized(
        but youngest: ClosedRange<Int64>?,
        _ count: Int64
    ) throws -> [(id: Int64, length: Int64)] {
        let statement = try statement(
            "SELECT id, length FROM entries WHERE boot IS NOT NULL AND NOT id BETWEEN ? AND ? LIMIT ?"
        )
        defer { statement.reset() }
        // Without a range, one that has no number in it.
        try statement.bind(youngest?.lowerBound ?? 0, at: 1)
        try statement.bind(youngest?.upperBound ?? -1, at: 2)
        try statement.bind(count, at: 3)
        var found: [(Int64, Int64)] = []
        while try statement.step() { found.append((statement.integer(0), statement.integer(1))) }
        return found
    }

    /// Notes files that are on the disk; one that was lengthened meanwhile is not.
    func noteSynchronized(_ files: [(id: Int64, length: Int64)]) throws {
        let statement = try statement("UPDATE entries SET boot = NULL WHERE id = ? AND length = ?")
        defer { statement.reset() }
        for file in files {
            try statement.bind(file.id, at: 1)
            try statement.bind(file.length, at: 2)
            try statement.run()
        }
    }
}
