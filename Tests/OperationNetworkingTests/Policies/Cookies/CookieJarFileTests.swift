import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Several runs with one file: each `CookieJarFile` stands for a process, since locks are of open files.
@Suite(.timeLimit(.minutes(1)))
struct CookieJarFileTests {
    private let directory: TemporaryDirectory
    private var file: URL { directory.file("jar") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func cookie(_ name: String, _ value: String, expires: Int64? = nil) throws -> Cookie {
        try #require(Cookie(name: name, value: value, domain: "example.com", expires: expires))
    }

    private func values() throws -> [String] {
        try CookieJar(contentsOf: file).cookies.map { "\($0.name)=\($0.value)" }.sorted()
    }

    private func remove(_ name: String, from jar: CookieJar) throws {
        jar.remove(try #require(try cookie(name, "any").httpCookie()))
    }

    // MARK: - What is merged

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let before: String?
        let after: String?
        let held: String?
        let result: String?

        init(_ name: String, _ before: String?, _ after: String?, held: String?, _ result: String?) {
            testDescription = name
            (self.before, self.after, self.held, self.result) = (before, after, held, result)
        }
    }

    @Test(arguments: [
        Row("nothing changed", "1", "1", held: "1", "1"),
        Row("changed here", "1", "2", held: "1", "2"),
        Row("changed there", "1", "1", held: "2", "2"),
        Row("changed here and there", "1", "2", held: "3", "2"),
        Row("new here", nil, "1", held: nil, "1"),
        Row("new there", nil, nil, held: "1", "1"),
        Row("new here and there", nil, "1", held: "2", "1"),
        Row("deleted here", "1", nil, held: "1", nil),
        Row("deleted here, changed there", "1", nil, held: "2", nil),
        Row("deleted there", "1", "1", held: nil, nil),
        Row("deleted there, changed here", "1", "2", held: nil, "2"),
    ])
    func eachCookieIsTheOneThatWasChanged(row: Row) throws {
        func cookies(_ value: String?) throws -> [Cookie] {
            try [cookie("other", "0")] + (value.map { [try cookie("a", $0)] } ?? [])
        }
        let table = try CookieTable(
            cookies(row.held),
            changedFrom: cookies(row.before),
            to: cookies(row.after),
            now: 0
        )
        #expect(table.cookies(now: 0).first { $0.name == "a" }?.value == row.result)
        #expect(table.count == (row.result == nil ? 1 : 2))
    }

    /// It ended by itself, and another process may have renewed it.
    @Test func aCookieThatExpiresIsNotDeleted() throws {
        let (old, new) = (try cookie("a", "1", expires: 10), try cookie("a", "2", expires: 100))
        let table = CookieTable([new], changedFrom: [old], to: [], now: 20)
        #expect(table.cookies(now: 20) == [new])
    }

    // MARK: - The file

    @Test func severalAtOnceLoseNothing() throws {
        try CookieJar().save(to: file)
        let files = try (0..<8).map { _ in try CookieJarFile(file) }
        for (number, file) in files.enumerated() { file.jar.set(try cookie("c\(number)", "1")) }
        let failures = Recorder<String>()
        DispatchQueue.concurrentPerform(iterations: files.count) { number in
            do { try files[number].save() } catch { failures.append("\(error)") }
        }
        #expect(failures.elements == [])
        #expect(try values() == (0..<8).map { "c\($0)=1" })
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["jar"])
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func theChangeThatIsSavedLastCountsAndADeletionIsAChange() throws {
        let first = try CookieJarFile(file)
        for name in ["a", "b", "c"] { first.jar.set(try cookie(name, "1")) }
        try first.save()
        let second = try CookieJarFile(file)
        second.jar.set(try cookie("a", "2"))
        try remove("b", from: second.jar)
        try second.save()
        // It still has the old ones, and has changed none of them since.
        first.jar.set(try cookie("d", "1"))
        try first.save()
        #expect(try values() == ["a=2", "c=1", "d=1"])
        first.jar.set(try cookie("a", "3"))
        try first.save()
        try second.save()
        #expect(try values() == ["a=3", "c=1", "d=1"])
    }

    @Test func aFileThatIsHeldIsAnErrorAndStays() throws {
        try CookieJar().save(to: file)
        let old = try Data(contentsOf: file)
        let descriptor = open(file.path, O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        let jar = try CookieJarFile(file, lockTimeout: 1)
        jar.jar.set(try cookie("a", "1"))
        #expect(throws: CocoaError.self) { try jar.save() }
        #expect(try Data(contentsOf: file) == old)
        flock(descriptor, LOCK_UN)
        try jar.save()
        #expect(try values() == ["a=1"])
    }

    @Test func whatIsNoLongerAFileOfCookiesStays() throws {
        let jar = try CookieJarFile(file)
        jar.jar.set(try cookie("a", "1"))
        try Data("<html>".utf8).write(to: file)
        #expect(throws: CookieFileError.self) { try jar.save() }
        #expect(try Data(contentsOf: file) == Data("<html>".utf8))
    }
}
