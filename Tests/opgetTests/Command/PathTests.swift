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

    /// Swift would repair it, and another file be meant; and stars for secrets would stand elsewhere.
    @Test func anArgumentThatIsNotUTF8IsRefused() async throws {
        let script = "bad=$(printf 'm\\374ller:secret'); set -- \"$@\" \"$bad\"; "
        let result = try await opget.start([address(), "-u"], after: script).result()
        #expect(result.code == 2)
        #expect(result.errors.contains("is not UTF-8") && !result.errors.contains("secret"))
        #expect(try opget.files().isEmpty && server.requests.isEmpty)
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
    @Test func signalsAreHeardWhileManyFilesAreFoundToBeThere() async throws {
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
        #expect(result.code == 130)
        #expect(result.errorLines.contains { $0.hasPrefix("Interrupted.") })
        // The signal did not wait for the last of them.
        #expect(result.errorLines.count < count)
    }
}
