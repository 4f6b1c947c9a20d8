import COperationNetworking

/// A connection to an SQLite database. Not for two threads at once; calls may wait for the disk and, for a
/// limited time, for other connections.
package final class Database {
    private var handle: OpaquePointer?

    /// Opens the file, which may be empty. Symbolic links in the path are refused.
    ///
    /// - Parameters:
    ///   - path: an absolute one. The files beside it get its mode.
    ///   - patience: the milliseconds for which a change waits for those of other connections.
    /// - Throws: ``DatabaseError``.
    package init(path: String, patience: Int32) throws(DatabaseError) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        // `deinit` closes it, also if an error is thrown here.
        guard code == SQLITE_OK else { throw DatabaseError(code, handle, "open") }
        setPatience(patience)
    }

    /// The milliseconds for which a change waits from now on.
    package func setPatience(_ milliseconds: Int32) {
        sqlite3_busy_timeout(handle, milliseconds)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Runs statements without parameters and without results.
    package func execute(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(code, handle, sql) }
    }

    /// Compiles one statement, which may be used until the connection goes.
    package func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw DatabaseError(code, handle, sql) }
        return Statement(statement, of: self, sql)
    }

    /// The first column of the first row, as a number; `nil` if there is no row.
    package func number(_ sql: String) throws(DatabaseError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Runs `work` as one transaction, which is undone if it throws. Others cannot change anything meanwhile;
    /// without `isChange` they can, and `work` sees all as it was at its first look.
    package func transaction<Result>(isChange: Bool = true, _ work: () throws -> Result) throws -> Result {
        try execute(isChange ? "BEGIN IMMEDIATE" : "BEGIN")
        do {
            let result = try work()
            try execute("COMMIT")
            return result
        } catch {
            // SQLite undoes some failures itself; then there is nothing to undo any more.
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    /// The number of rows that the last statement changed.
    package var changes: Int { Int(sqlite3_changes(handle)) }

    /// SQLite's sentence about the last failure, for an error.
    fileprivate func error(_ code: Int32, _ sql: String) -> DatabaseError { DatabaseError(code, handle, sql) }

    /// A compiled statement. Its parameters are bound, counted from 1, then it is stepped; it is bound anew
    /// after ``reset()``.
    package final class Statement {
        private let statement: OpaquePointer
        /// Kept open for as long as the statement is used.
        private let database: Database
        private let sql: String

        fileprivate init(_ statement: OpaquePointer, of database: Database, _ sql: String) {
            self.statement = statement
            self.database = database
            self.sql = sql
        }

        deinit {
            sqlite3_finalize(statement)
        }

        package func bind(_ value: Int64, at index: Int32) throws(DatabaseError) {
            try check(sqlite3_bind_int64(statement, index, value))
        }

        package func bind(_ text: String, at index: Int32) throws(DatabaseError) {
            var text = text
            try check(
                text.withUTF8 { utf8 in
                    utf8.withMemoryRebound(to: CChar.self) {
                        csqlite_bind_text(statement, index, $0.baseAddress, $0.count)
                    }
                }
            )
        }

        package func bind(_ bytes: Span<UInt8>, at index: Int32) throws(DatabaseError) {
            try check(
                bytes.withUnsafeBytes { csqlite_bind_bytes(statement, index, $0.baseAddress, $0.count) }
            )
        }

        package func bindNull(at index: Int32) throws(DatabaseError) {
            try check(sqlite3_bind_null(statement, index))
        }

        /// Goes on to the next row.
        /// - Returns: whether there is one.
        package func step() throws(DatabaseError) -> Bool {
            let code = sqlite3_step(statement)
            switch code {
            case SQLITE_ROW: return true
            case SQLITE_DONE: return false
            default:
                let error = database.error(code, sql)
                sqlite3_reset(statement)
                throw error
            }
        }

        /// Runs a statement that has no rows, and resets it.
        package func run() throws(DatabaseError) {
            _ = try step()
            reset()
        }

        /// Ends the rows, and forgets what was bound.
        package func reset() {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }

        /// Ends the rows; what was bound stays.
        package func rewind() { sqlite3_reset(statement) }

        package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

        package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

        package func isInteger(_ column: Int32) -> Bool {
            sqlite3_column_type(statement, column) == SQLITE_INTEGER
        }

        package func text(_ column: Int32) -> String {
            let bytes = sqlite3_column_text(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }

        /// A copy.
        package func bytes(_ column: Int32) -> [UInt8] {
            let bytes = sqlite3_column_blob(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
        }

        /// Lends the bytes.
        package func withBytes<Result>(_ column: Int32, _ body: (Span<UInt8>) -> Result) -> Result {
            let bytes = sqlite3_column_blob(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            let buffer = UnsafeRawBufferPointer(start: bytes, count: count)
            return buffer.withMemoryRebound(to: UInt8.self) { body($0.span) }
        }

        private func check(_ code: Int32) throws(DatabaseError) {
            guard code == SQLITE_OK else { throw database.error(code, sql) }
        }
    }
}

/// A failure of SQLite's.
package struct DatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The extended result code.
    package let code: Int32
    /// SQLite's sentence, and the statement.
    package let description: String

    init(_ code: Int32, _ handle: OpaquePointer?, _ sql: String) {
        self.code = code
        let reason =
            handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        description = "SQLite: \(reason) (\(code)): \(sql)"
    }

    /// Whether the file has lost its name, or was opened while it did (`SQLITE_READONLY_DBMOVED`).
    package var isReplacement: Bool { code == SQLITE_READONLY | 4 << 8 || code == SQLITE_CANTOPEN }

    /// Whether another connection did not end its change in time.
    package var isBusy: Bool { code & 0xff == SQLITE_BUSY }

    /// Whether nothing more is known of it (`SQLITE_ERROR`): a wrong statement, or a file of a format that
    /// this SQLite does not know.
    package var isGeneric: Bool { code == SQLITE_ERROR }

    /// Whether the file may not be written, or its header says so.
    package var isReadOnly: Bool { code == SQLITE_READONLY }

    /// Whether the file is no database, its pages contradict each other, some are missing, or a row has no
    /// value where the schema demands one, though each statement gives one.
    package var isCorruption: Bool {
        // SQLITE_IOERR_SHORT_READ and SQLITE_CONSTRAINT_NOTNULL are expressions, which Swift does not import.
        [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xff)
            || [SQLITE_IOERR | 2 << 8, SQLITE_CONSTRAINT | 5 << 8].contains(code)
    }
}
