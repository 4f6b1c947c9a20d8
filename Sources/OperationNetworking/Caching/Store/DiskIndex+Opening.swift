internal import OperationNetworkingSystem

// What the file is, and its schema.
extension DiskIndex {
    /// Makes the schema in an empty file.
    func make() throws {
        try database.transaction {
            // Another process may have been first.
            let finding = try finding()
            guard finding != .current else { return }
            guard finding == .empty else { throw Unusable(finding: finding) }
            try database.execute(Self.schema.joined(separator: ";\n"))
            try database.execute(
                """
                INSERT INTO total VALUES(0); PRAGMA application_id = \(IndexFinding.application);
                PRAGMA user_version = \(IndexFinding.version);
                """
            )
        }
    }

    /// Looks what the file is. Within a transaction, so that all is of one moment.
    func finding() throws -> IndexFinding {
        // These can be read also where the texts cannot.
        let application = try database.number("PRAGMA application_id") ?? 0
        let version = try database.number("PRAGMA user_version") ?? 0
        do {
            let (found, ours) = (try texts(), Set(Self.schema))
            return IndexFinding(application: application, version: version, schema: found, ours: ours)
        } catch let error as DatabaseError where error.isCorruption || error.isGeneric {
            guard let finding = IndexFinding(unreadableWith: application, version: version) else {
                throw error
            }
            return finding
        }
    }

    /// The texts of the schema, also of one that a later SQLite has written.
    private func texts() throws -> Set<String> {
        // It has texts that cannot be parsed read all the same.
        try database.execute("PRAGMA writable_schema = ON")
        let found = Result { try readTexts() }
        try database.execute("PRAGMA writable_schema = RESET")
        return try found.get()
    }

    private func readTexts() throws -> Set<String> {
        let statement = try database.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        var texts: Set<String> = []
        while try statement.step() { texts.insert(statement.text(0)) }
        return texts
    }
}
