internal import OperationNetworkingSystem

// Files on their way to the disk.
extension DiskIndex {
    /// Entries, with the lengths of their files, that are not known to be on the disk, of those made before
    /// the one with the number `id`.
    func unsynchronized(before id: Int64, _ count: Int64) throws -> [(id: Int64, length: Int64)] {
        let statement = try statement(
            "SELECT id, length FROM entries WHERE boot IS NOT NULL AND id < ? LIMIT ?"
        )
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        try statement.bind(count, at: 2)
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
