import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

/// Paths mean to opget what they mean to the kernel.
@Suite(.serialized) struct PathTests {
    private let opget: Opget
    private let server: ScriptedServer

    init() throws {
        opget = try Opget()
        server = try ScriptedServer { .respond(200, body: .text($0.target)) }
    }

    private func address(_ path: String = "a") -> String { server.url(path: path).absoluteString }

    /// Foundation would expand it.
    @Test func aTildeIsACharacterLikeOthers() async throws {
        let home = opget.directory.file("home")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: false)
        let environment = ["HOME": home.path, "CFFIXED_USER_HOME": home.path]
        let list = "\(address("k"))\n  out=~/evil\n\(address("l"))\n  dir=~root/x\n"
        #expect(try await opget("-d", ".", "-i", "-", input: list, environment: environment).code == 0)
        #expect(try await opget(address("~daemon"), environment: environment).code == 0)
        #expect(try await opget("--dir=~/down", address("m"), environment: environment).code == 0)
        #expect(try await opget("-o", "~x", address("n"), environment: environment).code == 0)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: home.path).isEmpty)
        #expect(try opget.text("~/evil") == "/k" && opget.text("~root/x/l") == "/l")
        #expect(try opget.text("~/down/m") == "/m")
        // Done is done.
        #expect(try await opget("--dir=~/down", address("m"), environment: environment).code == 0)
        #expect(server.requests.filter { $0.target == "/m" }.count == 1)
    }

    @Test func dotsBehindALinkLeadWhereTheKernelSays() async throws {
        try FileManager.default.createDirectory(
            at: opget.directory.file("far/deep"),
            withIntermediateDirectories: true
        )
        try FileManager.default.createSymbolicLink(
            atPath: opget.directory.file("s").path,
            withDestinationPath: "far/deep"
        )
        #expect(try await opget("-d", "s/..", address()).code == 0)
        #expect(try opget.text("far/a") == "/a")
        #expect(try await opget("-d", "s/..", address()).code == 0)
        #expect(server.requests.count == 1)
        #expect(try await opget("-o", "s/../b", address("b")).code == 0)
        #expect(try opget.text("far/b") == "/b")
    }

    /// -d is a fence: a list may not name what is behind a link in it.
    @Test func aLinkDoesNotLeadOutOfTheDirectory() async throws {
        for name in ["d", "far"] {
            let folder = opget.directory.file(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }
        for (link, target) in [("d/out", "../far"), ("d/in", "."), ("e", "far")] {
            let path = opget.directory.file(link).path
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        }
        let list =
            "\(address("a"))\n  out=out/x/a\n\(address("b"))\n  dir=out\n\(address("c"))\n  out=in/y/c\n"
        let result = try await opget("-d", "d", "-i", "-", input: list)
        #expect(result.code == 3)
        #expect(result.errors.contains("d/out/x leads out of d, the directory of -d"))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: opget.directory.file("far").path).isEmpty)
        #expect(try opget.text("d/y/c") == "/c")
        // The directory itself may be a link.
        #expect(try await opget("-d", "e", address("f")).code == 0)
        #expect(try opget.text("far/f") == "/f")
    }

    @Test func aListMayBeAPipe() async throws {
        let result = try await opget("-i", "/dev/stdin", input: "\(address("a"))\n")
        #expect(result.code == 0)
        #expect(try opget.text("a") == "/a")
    }

    @Test(arguments: ["a", "./a", "a.part", "a.part.resume"])
    func aJarIsNotWrittenOverWhatIsFetched(jar: String) async throws {
        let result = try await opget("--cookie-jar", jar, address("a"))
        #expect(result.code == 2 && server.requests.isEmpty)
        #expect(result.errors.contains("--cookie-jar \(jar) would overwrite it"))
    }

    /// Swift would repair it, and another file be meant; and stars for secrets would stand elsewhere.
    @Test func anArgumentThatIsNotUTF8IsRefused() async throws {
        let script = "bad=$(printf 'm\\374ller:secret'); set -- \"$@\" \"$bad\"; "
        let result = try await opget.start([address(), "-u"], after: script).result()
        #expect(result.code == 2)
        #expect(result.errors.contains("is not UTF-8") && !result.errors.contains("secret"))
        #expect(try opget.files().isEmpty && server.requests.isEmpty)
    }

    private static let relativePaths = [
        [], ["-o", "./x"], ["-o", "../x"], ["-d", "sub"], ["--cookie-jar", "jar"],
    ]

    /// Foundation would repair the path of the directory, and another one be meant, which may exist.
    @Test(arguments: relativePaths)
    func aRelativePathIsRefusedInADirectoryThatIsNotUTF8(options: [String]) async throws {
        let other = opget.directory.file("lat\u{FFFD}")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
        let script = "d=$(printf 'lat\\344'); mkdir \"$d\" 2>/dev/null; cd \"$d\" || exit 99; "
        let place = opget.directory.file("there").path
        let result = try await opget.start(options + [address()], after: script).result()
        #expect(result.code == 2)
        #expect(result.errors.contains(", but the path of the working directory is not UTF-8"))
        #expect(server.requests.isEmpty)
        #expect(try await opget.start(["-o", place, address()], after: script).result().code == 0)
        #expect(try opget.text("there") == "/a")
        // A descriptor has no path.
        #expect(try await opget.start(["-q", "-o", "-", address()], after: script).result().output == "/a")
        // Both are empty. Foundation could not remove the first one.
        let cleaning = "rmdir lat*; "
        #expect(try await opget.start(["--version"], after: cleaning).result().errors == "")
        #expect(try opget.files() == ["there"])
    }

    @Test func aRelativePathIsRefusedWhereThereIsNoDirectory() async throws {
        let script = "mkdir gone; cd gone; rmdir ../gone; "
        let result = try await opget.start([address()], after: script).result()
        #expect(result.code == 2)
        #expect(
            result.errors.hasPrefix("opget: a is a relative path, but the working directory no longer")
        )
        #expect(server.requests.isEmpty)
    }

    @Test func aDirectoryIsOnlySoDeep() throws {
        let deepest = "/" + String(repeating: "a", count: 4094)
        try WorkingDirectory(octets: deepest).check(FilePath("a"))
        let directory = WorkingDirectory(octets: deepest + "a")
        #expect(throws: Failure.self) { try directory.check(FilePath("a")) }
        try directory.check(FilePath("/a"))
    }

    /// The octets are the address (RFC 9110 §5.5).
    @Test func aRedirectLeadsToItsOctets() async throws {
        let redirect = Data("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /".utf8) + [0xE4]
        let server = try ScriptedServer { request in
            guard request.target == "/a" else { return .respond(200, body: .text(request.target)) }
            return .raw(.data(redirect + Data("x\r\n\r\n".utf8)))
        }
        #expect(try await opget(server.url(path: "a").absoluteString).code == 0)
        #expect(try opget.text("a") == "/%E4x")
    }

    @Test func aNetrcFileIsInTheHomeOfTheEnvironment() async throws {
        let guarded = try ScriptedServer { request in
            request["Authorization"] == nil
                ? .respond(401, ["WWW-Authenticate": "Basic realm=\"x\""]) : .respond(200, body: "x")
        }
        try opget.write("machine 127.0.0.1 login me password secret\n", ".netrc")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: opget.directory.file(".netrc").path
        )
        let environment = ["HOME": opget.directory.url.path]
        #expect(
            try await opget("-n", guarded.url(path: "a").absoluteString, environment: environment).code == 0
        )
    }

    // MARK: - Signals

    @Test func aSignalThatWasIgnoredStaysSo() async throws {
        let gate = Gate()
        let held = try ScriptedServer([.respond(200, body: "0123456789").held(after: 4, by: gate)])
        let run = try opget.start([held.url(path: "a").absoluteString], after: "trap '' INT TERM; ")
        try await gate.waitForArrivals()
        run.signal(SIGINT)
        run.signal(SIGTERM)
        gate.open()
        #expect(try await run.result().code == 0)
        #expect(try opget.text("a") == "0123456789")
    }

    /// Existing files take no time of the network, and many take some of the disk.
    @Test func signalsAreHandledWhileManyFilesAreFoundToBeThere() async throws {
        let count = 20_000
        let names = (0..<count).map { "f\($0)" }
        try FileManager.default.createDirectory(
            at: opget.directory.file("down"),
            withIntermediateDirectories: false
        )
        // Of another program: each is an error of its own.
        for name in names { try opget.write("x", "down/\(name)") }
        let gate = Gate()
        let held = try ScriptedServer { _ in .respond(200, body: "0123456789").held(after: 4, by: gate) }
        let list = (["first"] + names).map { held.url(path: $0).absoluteString }.joined(separator: "\n")
        let run = try opget.start(["-d", "down", "-j", "2", "-i", "-"], input: list)
        try await gate.waitForArrivals()
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.code == -SIGINT)
        #expect(result.errorLines.contains { $0.hasPrefix("Interrupted.") })
        // The signal did not wait for the last of them.
        #expect(result.errorLines.count < count)
    }
}
