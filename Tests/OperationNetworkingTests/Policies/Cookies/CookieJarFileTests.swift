import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Several runs with one file: each `CookieJarFile` stands for a process, since locks are of open files.
@Suite(.timeLimit(.minutes(1)))
struct CookieJarFileTests {
    private let directory: TemporaryDirectory
    private var file: URL { directory.file("jar") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func cookie(_ name: String, _ value: String) throws -> HTTPCookie {
        try #require(
            HTTPCookie(properties: [.name: name, .value: value, .domain: "example.com", .path: "/"])
        )
    }

    private func values() throws -> [String] {
        try CookieJar(contentsOf: file).cookies.map { "\($0.name)=\($0.value)" }.sorted()
    }

    private func remove(_ name: String, from jar: CookieJar) throws {
        jar.remove(try cookie(name, "any"))
    }

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
