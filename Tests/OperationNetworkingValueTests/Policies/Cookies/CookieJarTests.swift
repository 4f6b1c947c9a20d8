import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct CookieJarTests {
    private func cookie(_ properties: [HTTPCookiePropertyKey: Any]) throws -> HTTPCookie {
        var all: [HTTPCookiePropertyKey: Any] = [
            .name: "a", .value: "1", .domain: "example.com", .path: "/",
        ]
        all.merge(properties) { $1 }
        return try #require(HTTPCookie(properties: all))
    }

    private func names(_ jar: CookieJar, _ url: String) throws -> [String] {
        jar.cookies(for: try #require(URL(string: url))).map(\.name)
    }

    @Test func aJarAnswersByTheRulesAndNotAsAStorageWould() throws {
        let jar = CookieJar()
        jar.set(try cookie([.name: "host"]))
        jar.set(try cookie([.name: "domain", .domain: ".example.com"]))
        jar.set(try cookie([.name: "path", .path: "/a"]))
        jar.set(try cookie([.name: "secure", .secure: "TRUE"]))
        #expect(try names(jar, "http://example.com/ab") == ["host", "domain"])
        #expect(try names(jar, "http://EXAMPLE.com/a/b") == ["path", "host", "domain"])
        #expect(try names(jar, "http://www.example.com") == ["domain"])
        #expect(try names(jar, "http://badexample.com").isEmpty)
        #expect(try names(jar, "https://example.com/") == ["host", "domain", "secure"])
    }

    @Test func cookiesCanBeTakenOut() throws {
        let jar = CookieJar()
        jar.set(try cookie([:]))
        jar.set(try cookie([.name: "b"]))
        jar.remove(try cookie([.value: "other"]))
        #expect(jar.cookies.map(\.name) == ["b"])
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test func aCookieThatWouldInjectAnotherIsNotKept() throws {
        let jar = CookieJar()
        jar.set(try cookie([.value: "1\r\nevil.example\tTRUE\t/\tFALSE\t0\tb\t2"]))
        jar.set(try cookie([.value: "1; b=2"]))
        #expect(jar.cookies.isEmpty)
    }

    // MARK: - Files

    @Test func aSavedJarIsRestored() throws {
        let directory = try TemporaryDirectory()
        let jar = CookieJar()
        jar.set(try cookie([.name: "session", .value: ""]))
        jar.set(try cookie([.name: "domain", .domain: ".example.com", .path: "/a", .secure: "TRUE"]))
        jar.set(
            try cookie([
                .name: "long", .expires: Date(timeIntervalSince1970: 4_000_000_000),
                HTTPCookiePropertyKey("HttpOnly"): "TRUE",
            ])
        )
        try jar.save(to: directory.file())
        let text = try String(contentsOf: directory.file(), encoding: .utf8)
        #expect(
            text == """
                # Netscape HTTP Cookie File

                example.com\tFALSE\t/\tFALSE\t0\tsession\t
                .example.com\tTRUE\t/a\tTRUE\t0\tdomain\t1
                #HttpOnly_example.com\tFALSE\t/\tFALSE\t4000000000\tlong\t1

                """
        )
        let again = try CookieJar(contentsOf: directory.file())
        #expect(again.all(now: 0) == jar.all(now: 0))
    }

    @Test func aSavedJarIsPrivateAndLeavesNoOtherFiles() throws {
        let directory = try TemporaryDirectory()
        let file = directory.file()
        try Data("old".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        try CookieJar().save(to: file)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["file"])
        #expect(throws: CocoaError.self) {
            try CookieJar().save(to: directory.file("none/file"))
        }
    }

    /// As curl does. The other lines count, and the file is one of cookies.
    @Test(arguments: [
        "example.com\tFALSE\t/\tFALSE\t0\tname", "example.com\tFALSE\t/\tFALSE\t0\t\tvalue",
        "example.com\tFALSE\t/\tFALSE\t1735689600.5\ta\t1", "example.com\tFALSE\t/\tFALSE\t0\ta\t1\rb", "a=1",
        "example.com", "exa mple.com\tFALSE\t/\tFALSE\t0\ta\t1", "example.com\tmaybe\t/\tFALSE\t0\ta\t1",
    ])
    func anOddLineIsSkippedAndReported(line: String) throws {
        let directory = try TemporaryDirectory()
        let good = ["b", "c"].map { "example.com\tFALSE\t/\tFALSE\t0\t\($0)\t1" }
        let text = "# Netscape HTTP Cookie File\n\(good[0])\r\n\(line)\n\(good[1])"
        try Data(text.utf8).write(to: directory.file())
        var skipped: [CookieFileError] = []
        let jar = try CookieJar(contentsOf: directory.file()) { skipped.append($0) }
        #expect(jar.cookies.map(\.name) == ["b", "c"])
        guard case .malformedLine(3, _) = skipped.first, skipped.count == 1 else {
            throw TestFailure("\(skipped)")
        }
        #expect(skipped[0].description.hasPrefix("Line 3 is not a cookie: "))
        // A single one, without a heading.
        try Data((good[0] + "\n" + line).utf8).write(to: directory.file())
        #expect(try CookieJar(contentsOf: directory.file()).cookies.map(\.name) == ["b"])
    }

    @Test func aLineThatIsNotUTF8IsLeftOut() throws {
        let directory = try TemporaryDirectory()
        let good = Data("example.com\tFALSE\t/\tFALSE\t0\ta\t1\n".utf8)
        try (good + Data("example.com\tFALSE\t/\tFALSE\t0\tb\t".utf8) + Data([0xE9])).write(
            to: directory.file()
        )
        var skipped: [CookieFileError] = []
        let jar = try CookieJar(contentsOf: directory.file()) { skipped.append($0) }
        #expect(jar.cookies.map(\.name) == ["a"])
        #expect(skipped == [.malformedLine(2, "it is not UTF-8")])
    }

    /// It would be written over.
    @Test(arguments: [
        ("broken\n", 1), ("\r\n\r\n<html>\n", 3), ("{\"cookies\": []}", 1), ("a\tb\tc", 1),
    ])
    func aFileWithoutAnyCookieIsAnError(text: String, number: Int) throws {
        let directory = try TemporaryDirectory()
        try Data(text.utf8).write(to: directory.file())
        let error = #expect(throws: CookieFileError.self) { try CookieJar(contentsOf: directory.file()) }
        guard case .malformedLine(number, _) = error else {
            throw TestFailure("\(String(describing: error))")
        }
    }

    /// opget prints it, and so does a program that prints an error's description.
    @Test(arguments: [
        "example.com\thunter2\t/\tFALSE\t0\ta\t1", "example.com\tFALSE\t/\tFALSE\thunter2\ta\t1",
        "example.com\tFALSE\t/\tFALSE\t0\ta\thunter2\t1", "example.com a hunter2",
    ])
    func anInvalidLineIsNotQuoted(text: String) throws {
        var skipped: [CookieFileError] = []
        let heading = "# Netscape HTTP Cookie File\n"
        _ = try CookieJar.cookies(of: Data((heading + text).utf8)) { skipped.append($0) }
        let error = try #require(skipped.first)
        #expect(error.localizedDescription == error.description)
        #expect(!error.description.contains("hunter2"))
    }

    @Test func aFileThatIsMissingOrNotTextIsAnError() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: CocoaError.self) { try CookieJar(contentsOf: directory.file()) }
        try Data([0xFF, 0xFE]).write(to: directory.file())
        #expect(throws: CookieFileError.notText) { try CookieJar(contentsOf: directory.file()) }
    }

    /// With or without its line ends, comments and expired cookies.
    @Test func aFileMayHaveBeenWrittenByHand() throws {
        let directory = try TemporaryDirectory()
        let text =
            "example.com\tTRUE\t/\tFALSE\t0\ta\t1\r\n# no\r\n\r\nexample.com\tTRUE\t/\tFALSE\t1\told\t1\r\n"
            + "#HttpOnly_example.com\tFALSE\t/\tTRUE\t0\tb\t2"
        try Data(text.utf8).write(to: directory.file())
        #expect(try CookieJar(contentsOf: directory.file()).cookies.map(\.name) == ["a", "b"])
    }
}
