import Foundation
import OperationNetworkingSystem
import Testing

struct DatabaseTests {
    private let directory: TestDirectory
    private let path: String
    /// With one table.
    private let database: Database

    init() throws {
        directory = try TestDirectory()
        path = directory.file("a.sqlite")
        try Data().write(to: URL(fileURLWithPath: path))
        database = try Database(path: path, patience: 0)
        try database.execute("CREATE TABLE a(number INTEGER, text TEXT, bytes BLOB)")
    }

    @Test func valuesComeBackAsTheyWere() throws {
        let insert = try database.prepare("INSERT INTO a VALUES(?, ?, ?)")
        let texts = ["", "plain", "ü and a \u{0} within"]
        for (number, text) in texts.enumerated() {
            try insert.bind(Int64.max - Int64(number), at: 1)
            try insert.bind(text, at: 2)
            try insert.bind(Array(text.utf8).span, at: 3)
            try insert.run()
            #expect(database.changes == 1)
        }
        try insert.bindNull(at: 3)
        try insert.run()
        let select = try database.prepare("SELECT number, text, bytes FROM a ORDER BY rowid")
        for (number, text) in texts.enumerated() {
            #expect(try select.step())
            #expect(select.integer(0) == Int64.max - Int64(number))
            #expect(select.text(1) == text)
            #expect(select.bytes(2) == Array(text.utf8))
            #expect(!select.isNull(2))
        }
        #expect(try select.step())
        #expect(select.isNull(2) && select.bytes(2).isEmpty && select.text(1).isEmpty)
        #expect(try !select.step())
        #expect(try database.number("SELECT count(*) FROM a") == 4)
        #expect(try database.number("SELECT 1 WHERE 0") == nil)
    }

    @Test func aTransactionThatThrowsIsUndone() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try database.transaction {
                try database.execute("INSERT INTO a VALUES(1, '', '')")
                throw Stop()
            }
        }
        #expect(try database.number("SELECT count(*) FROM a") == 0)
        try database.transaction { try database.execute("INSERT INTO a VALUES(1, '', '')") }
        #expect(try database.number("SELECT count(*) FROM a") == 1)
    }

    @Test func anotherConnectionIsWaitedForAndThenAnError() throws {
        let other = try Database(path: path, patience: 0)
        try other.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: DatabaseError.self) {
            try database.transaction { try database.execute("DELETE FROM a") }
        }
        #expect(error?.code == 5)  // SQLITE_BUSY
        #expect(error?.isCorruption == false)
        try other.execute("COMMIT")
        try database.transaction { try database.execute("DELETE FROM a") }
    }

    @Test func mistakesAndDamageAreTold() throws {
        let error = #expect(throws: DatabaseError.self) {
            try database.execute("SELECT nothing FROM nowhere")
        }
        #expect(error?.description.contains("nowhere") == true)
        #expect(throws: DatabaseError.self) { _ = try database.prepare("SELECT") }
        try Data("no database at all, but some text that is long enough to be read as one".utf8)
            .write(to: URL(fileURLWithPath: path + ".other"))
        let other = try Database(path: path + ".other", patience: 0)
        let damage = #expect(throws: DatabaseError.self) {
            _ = try other.number("SELECT 1 FROM sqlite_schema")
        }
        #expect(damage?.isCorruption == true)
        try FileManager.default.createSymbolicLink(atPath: path + ".link", withDestinationPath: path)
        #expect(throws: DatabaseError.self) { _ = try Database(path: path + ".link", patience: 0) }
        #expect(throws: DatabaseError.self) { _ = try Database(path: path + ".missing", patience: 0) }
    }
}
