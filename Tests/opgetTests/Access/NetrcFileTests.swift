import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport
@testable import opget

struct NetrcFileTests {
    private func entry(_ host: String?, _ login: String?, _ password: String?) -> NetrcFile.Entry {
        NetrcFile.Entry(host: host, login: login, password: password)
    }

    @Test(arguments: [
        ("machine a login b password c", ["a", "b", "c"]),
        ("machine a\n\tlogin b\n\tpassword c\n", ["a", "b", "c"]),
        ("machine a password c login b", ["a", "b", "c"]),
        ("machine a user b passwd c", ["a", "b", "c"]),
        ("machine a login b account x password c", ["a", "b", "c"]),
        ("machine a login b password c port 21", ["a", "b", "c"]),
        ("machine a login \"b c\" password \"\\\"d\\\\ e\\t\"", ["a", "b c", "\"d\\ e\t"]),
        ("machine a login b password #c", ["a", "b", "#c"]),
        ("machine a login machine password password", ["a", "machine", "password"]),
        ("# machine x login y password z\n  # more\nmachine a login b password c", ["a", "b", "c"]),
        ("macdef init\nmachine x login y password z\n\nmachine a login b password c", ["a", "b", "c"]),
        ("macdef init\r\nquit\r\n\r\nmachine a login b password c\r\n", ["a", "b", "c"]),
        ("machine a login gr\u{FC}n password \u{1F600}", ["a", "gr\u{FC}n", "\u{1F600}"]),
        ("login x password y\nmachine a login b password c", ["a", "b", "c"]),
    ])
    func reads(_ text: String, _ expected: [String]) throws {
        let file = try NetrcFile(text: text)
        #expect(file.entries == [entry(expected[0], expected[1], expected[2])])
    }

    @Test(arguments: ["", "\n \n", "# nothing", "macdef init\nmachine x", "macdef"])
    func findsNothing(in text: String) throws {
        #expect(try NetrcFile(text: text).entries == [])
    }

    @Test(arguments: [
        ("machine", 1), ("machine a\nlogin", 2), ("machine a login b\n\npassword \"c", 3),
        ("machine a account\n", 1),
    ])
    func refuses(_ text: String, _ line: Int) {
        #expect(throws: NetrcError.malformed(line: line)) { try NetrcFile(text: text) }
    }

    @Test func theFirstEntryForAHostCounts() throws {
        let file = try NetrcFile(
            text: """
                machine a.example login u1 password p1
                machine a.example login u2 password p2
                machine b.example login u3
                default login d password e
                machine c.example login u4 password p4
                """
        )
        #expect(file.credential(for: "A.Example") == Credential(user: "u1", password: "p1"))
        #expect(file.credential(for: "a.example", user: "u2") == Credential(user: "u2", password: "p2"))
        #expect(file.credential(for: "b.example") == nil)
        #expect(file.credential(for: "x.example") == Credential(user: "d", password: "e"))
        // What comes after the default is not looked at.
        #expect(file.credential(for: "c.example") == Credential(user: "d", password: "e"))
        #expect(file.credential(for: "x.example", user: "v") == nil)
    }

    @Test func descriptionsHaveNoSecret() throws {
        let file = try NetrcFile(text: "machine a login b password s3cret")
        var dumped = ""
        dump(file, to: &dumped)
        #expect(!dumped.contains("s3cret") && !"\(file)".contains("s3cret"))
    }

    private func file(_ text: String, mode: Int, in directory: TemporaryDirectory) throws -> URL {
        let url = directory.file("netrc")
        try Data(text.utf8).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
        return url
    }

    @Test func aFileOfTheOwnersIsRead() throws {
        let directory = try TemporaryDirectory()
        let url = try file("machine a login b password c", mode: 0o600, in: directory)
        #expect(try NetrcFile(contentsOf: url).credential(for: "a") == Credential(user: "b", password: "c"))
        let link = directory.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        #expect(try NetrcFile(contentsOf: link).credential(for: "a") != nil)
    }

    @Test(arguments: [0o640, 0o604, 0o602, 0o620, 0o666])
    func aFileThatOthersMayReadIsRefusedForItsPasswords(_ mode: Int) throws {
        let directory = try TemporaryDirectory()
        let url = try file("machine a login b password c", mode: mode, in: directory)
        let error = #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: url) }
        guard case .readableByOthers(_, mode) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let harmless = try file("machine a login b", mode: mode, in: directory)
        #expect(try NetrcFile(contentsOf: harmless).credential(for: "a") == nil)
    }

    /// Repaired, it would be another password.
    @Test(arguments: [
        "machine a\n login b password p~w", "\nmachine a login \"~\" password p", "\nmachine ~",
    ])
    func aPasswordThatIsNotUTF8IsAnError(text: String) throws {
        let directory = try TemporaryDirectory()
        let url = try latin1(text, in: directory)
        let error = #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: url) }
        #expect(error == .unreadable(path: url.path, reason: "line 2 is not UTF-8"))
    }

    /// Nothing of these is sent.
    @Test(arguments: ["# f~r\n", "macdef m\nput ~\n\n", "machine b account ~\n", "~ "])
    func skippedTextNeedNotBeUTF8(text: String) throws {
        let directory = try TemporaryDirectory()
        let url = try latin1(text + "machine a login b password p", in: directory)
        #expect(try NetrcFile(contentsOf: url).credential(for: "a") == Credential(user: "b", password: "p"))
    }

    @Test func aFileInUTF16IsAnError() throws {
        let directory = try TemporaryDirectory()
        let url = directory.file("netrc")
        try #require("machine a login b password p".data(using: .utf16)).write(to: url)
        let error = #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: url) }
        #expect(error == .unreadable(path: url.path, reason: "it is not UTF-8 text"))
    }

    /// `~` stands for an octet that is no UTF-8.
    private func latin1(_ text: String, in directory: TemporaryDirectory) throws -> URL {
        let url = directory.file("netrc")
        try Data(text.utf8.map { $0 == UInt8(ascii: "~") ? 0xE4 : $0 }).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        return url
    }

    @Test func aMissingFileIsAnError() throws {
        let directory = try TemporaryDirectory()
        for url in [directory.file("nothing"), directory.url] {
            #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: url) }
        }
    }
}
