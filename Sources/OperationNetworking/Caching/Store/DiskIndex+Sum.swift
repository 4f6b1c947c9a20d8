internal import OperationNetworkingSystem

// The sum of the costs of all entries, which triggers keep.
extension DiskIndex {
    /// In bytes.
    ///
    /// - Throws: ``Unusable``: it is no number, or not there; `DatabaseError`.
    func total() throws -> Int64 {
        let statement = try statement("SELECT bytes FROM total")
        defer { statement.reset() }
        guard try statement.step(), statement.isInteger(0) else { throw Unusable(finding: .damaged) }
        return statement.integer(0)
    }

    /// Makes sure that it is there: the triggers of each change need it.
    ///
    /// - Throws: ``Unusable``, `DatabaseError`.
    func expectSum() throws {
        let statement = try database.prepare("SELECT count(*), typeof(bytes) FROM total")
        guard try statement.step(), statement.integer(0) == 1, statement.text(1) == "integer" else {
            throw Unusable(finding: .damaged)
        }
    }

    /// Counts it anew: it reads all rows. A cost that no entry can have counts as none.
    func recount() throws -> Int64 {
        try database.execute(
            """
            UPDATE entries SET cost = 0 WHERE cost NOT BETWEEN 0 AND \(Self.greatestCost);
            UPDATE total SET bytes = (SELECT ifnull(sum(cost), 0) FROM entries)
            """
        )
        return try total()
    }

    /// The cost of the next `count` entries with a number above `id`, in bytes, and the number of the last
    /// one; `nil`: there are none.
    func cost(above id: Int64, _ count: Int64) throws -> (bytes: Int64, last: Int64)? {
        let statement = try statement(
            """
            SELECT ifnull(sum(CASE WHEN cost BETWEEN 0 AND \(Self.greatestCost) THEN cost END), 0), max(id)
            FROM (SELECT id, cost FROM entries WHERE id > ? ORDER BY id LIMIT ?)
            """
        )
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        try statement.bind(count, at: 2)
        guard try statement.step(), !statement.isNull(1) else { return nil }
        return (statement.integer(0), statement.integer(1))
    }
}
