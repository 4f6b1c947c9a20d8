import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

@Suite(.serialized) struct FailingTests {
    private let opget: Opget

    init() throws {
        opget = try Opget()
    }

    @Test(arguments: [(404, 8), (500, 8), (304, 8), (401, 6), (407, 6)] as [(Int, Int32)])
    func anErrorOfTheServersLeavesNoFile(status: Int, code: Int32) async throws {
        let server = try ScriptedServer([.respond(status, body: status == 304 ? "" : "page")])
        let result = try await opget("-q", "--retry", "0", server.url(path: "a").absoluteString)
        #expect(result.code == code)
        #expect(result.errorLines.count == 1)
        #expect(
            result.errors.hasPrefix(
                "opget: \(server.url(path: "a").absoluteString): The server answered \(status)"
            )
        )
        #expect(try opget.files() == [])
    }

    @Test(arguments: [true, false])
    func whatCameOfATruncatedBodyHasAnotherName(hasTag: Bool) async throws {
        let server = try ScriptedServer([
            .respond(200, hasTag ? ["ETag": "\"v1\""] : [:], body: "0123456789", breakingAfter: 4)
        ])
        let result = try await opget("--retry", "0", server.url(path: "a").absoluteString)
        #expect(result.code == 4)
        #expect(try opget.files() == ["a.part", "a.part.resume"])
        #expect(
            result.errorLines.last
                == (hasTag
                    ? "The partial data of one file is kept: the same command resumes from there."
                    : "The partial data of one file is kept, but the server gives no proof that the file is still the "
                        + "same: the same command starts over.")
        )
        #expect(result.errors.contains("announced 10 bytes, and the connection ended after 4."))
    }

    @Test func aRefusedConnectionIsTheNetworks() async throws {
        let server = try ScriptedServer([.respond(200)])
        let address = server.url(path: "a").absoluteString
        server.stop()
        let result = try await opget("--retry", "0", address)
        #expect(result.code == 4)
        #expect(result.errorLines.count == 1)
        #expect(try opget.files() == [])
    }

    @Test func aDirectoryThatCannotBeIsAFilesFailure() async throws {
        let server = try ScriptedServer([.respond(200, body: "x")])
        try opget.write("", "file")
        let address = server.url(path: "a").absoluteString
        for arguments in [["-d", "file/sub"], ["-d", "file"], ["-o", "file/a"], ["-d", "file/sub/other"]] {
            let result = try await opget.start(arguments + [address]).result()
            #expect(result.code == 3 && result.errors.hasSuffix(": file is not a directory.\n"))
        }
        #expect(try await opget("-d", "/proc/none", address).code == 3)
        #expect(try await opget("-o", ".", "--overwrite", address).code != 0)
        #expect(try await opget("--cacert", "none.pem", address).code == 3)
        #expect(try await opget("-i", "none").code == 3)
        let result = try await opget("-i", "/")
        #expect(result.code == 3 && result.errors == "opget: / could not be read: Is a directory.\n")
        #expect(server.requests.isEmpty)
        #expect(try opget.files() == ["file"])
    }

    @Test func oneFailureDoesNotKeepTheOthersAndTheLowestClassIsReported() async throws {
        let server = try ScriptedServer(
            routes: [
                "/good": [.respond(200, body: "x")],
                "/cut": [.respond(200, body: "0123456789", breakingAfter: 4)],
                "/secret": [.respond(401)],
            ])
        let addresses = ["missing", "secret", "cut", "good"].map { server.url(path: $0).absoluteString }
        try opget.write(addresses.joined(separator: "\n"), "list")
        let result = try await opget("--retry", "0", "-i", "list")
        #expect(result.code == 4)
        #expect(try opget.files() == ["cut.part", "cut.part.resume", "good", "list"])
        #expect(result.errorLines.filter { $0.hasPrefix("opget: http") }.count == 3)
        #expect(result.errorLines.dropLast().last == "1 of 4 done: 1 fetched (1 B), 3 failed")
    }

    @Test(arguments: [
        ["--bogus"], ["-j", "0", "http://h/a"], ["-j", "x", "http://h/a"],
        ["--progress", "maybe", "http://h/a"],
        ["-H", "nonsense", "http://h/a"], ["-o", "x", "http://h/a", "http://h/b"], ["ftp://h/a"], ["h/a"],
        ["http://h/a", "http://g/a"], ["-d", "down", "-o", "../x", "http://h/a"], ["http://h/.."],
        ["-d", "", "http://h/a"], ["--retry", "x", "http://h/a"], ["--retry=-1", "http://h/a"],
        ["--limit-rate", "fast", "http://h/a"], ["--max-time", "0", "http://h/a"], ["-C", "5", "http://h/a"],
        ["--checksum", "12", "http://h/a"], ["-N", "--overwrite", "http://h/a"],
        ["-N", "-o", "-", "http://h/a"], ["-N", "-o", "/dev/fd/1", "http://h/a"],
        ["-o", "a", "-o", "b", "http://h/a"], ["-d", "a", "-d", "b", "http://h/a"],
        ["--checksum", "1", "--checksum", "2", "http://h/a"], ["-i", "-", "-i", "-"],
        ["--json", "-o", "/dev/stdout", "http://h/a"],
        ["--checksum", "md5=d41d8cd98f00b204e9800998ecf8427e", "-o", "-", "http://h/a"],
    ])
    func aWrongCommandLineIsAUsageError(arguments: [String]) async throws {
        let result = try await opget.start(arguments).result()
        #expect(result.code == 2)
        #expect(result.output == "")
        #expect(result.errorLines.count == 1)
        #expect(result.errors.hasPrefix("opget: "))
        #expect(try opget.files() == [])
    }

    @Test func anAddressThatNobodyCanHaveIsAUsageErrorBeforeAnythingIsFetched() async throws {
        let server = try ScriptedServer([.respond(200, body: "x")])
        let result = try await opget(server.url(path: "good").absoluteString, "http://ex%2fx/a")
        #expect(result.code == 2)
        #expect(server.requests.isEmpty)
    }

    /// Exit code 2 says that nothing was fetched.
    @Test func whatIsWrongAfterTheBeginningIsNoUsageError() async throws {
        let server = try ScriptedServer([.respond(200, body: "x"), .respond(404)])
        let run = try opget.start(
            ["--json", "-j", "1", server.url(path: "good").absoluteString, "https://h/a"],
            environment: ["https_proxy": "https://proxy"]
        )
        let result = try await run.result()
        #expect(result.code == 1)
        #expect(try opget.text("good") == "x")
        #expect(result.output.contains("\"errorClass\":\"other\"") && !result.output.contains("usage"))
        // It is the last of the failures.
        let worse = try await opget(
            server.url(path: "missing").absoluteString,
            "https://h/a",
            environment: ["https_proxy": "https://proxy"]
        )
        #expect(worse.code == 8)
    }

    @Test(arguments: ["/etc/x", "../x", "a/../../x", "", "x/"])
    func aListThatEscapesIsRefusedBeforeAnythingIsFetched(name: String) async throws {
        let server = try ScriptedServer([.respond(200, body: "x")])
        let list = "\(server.url(path: "good"))\n\(server.url(path: "a"))\n  out=\(name)\n"
        let result = try await opget("-i", "-", "-d", "down", input: list)
        #expect(result.code == 2)
        #expect(result.errors.hasPrefix("opget: standard input:3: out="))
        #expect(server.requests.isEmpty)
        #expect(try opget.files() == [])
    }

    @Test(arguments: [
        (["--retry", "-1"], "opget: --retry needs a number of at least 0, not -1.\n"),
        (["-j", "-1"], "opget: -j needs a number of at least 1, not -1.\n"),
        (["--retry", "x"], "opget: The value 'x' is invalid for '--retry <n>'. See opget --help.\n"),
    ])
    func aWrongNumberIsNamed(option: [String], errors: String) async throws {
        let result = try await opget.start(option + ["http://h/a"]).result()
        #expect(result.code == 2 && result.errors == errors)
    }

    @Test func helpAndVersionGoToStandardOutput() async throws {
        let help = try await opget("--help")
        #expect(help.code == 0)
        #expect(help.output == HelpText.text)
        #expect(help.errors == "")
        let version = try await opget("--version")
        #expect(version.code == 0)
        #expect(version.output == "opget \(OpgetCommand.version)\n")
        let nothing = try await opget()
        #expect(nothing.code == 2)
        #expect(nothing.output == "")
        #expect(nothing.errors == HelpText.text)
    }

    // MARK: - No room

    @Test(arguments: ["-", "/dev/full", "/dev/stdout"])
    func aFullDeviceHasTheCodeOfAFullDisk(output: String) async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        let arguments = ["--retry", "0", "-o", output, server.url(path: "a").absoluteString]
        let redirection = output == "/dev/full" ? "" : "> /dev/full"
        #expect(try await opget.start(arguments, redirection: redirection).result().code == 10)
    }

    /// The limit is 1 MiB: the sanitizers' runtimes, too, need files, and begin with no less than 512 KiB.
    @Test(arguments: [true, false])
    func aFileBeyondItsLimitHasTheCodeOfAFullDisk(hasLength: Bool) async throws {
        let answer = Answer.respond(200, body: .text(String(repeating: "x", count: 3_000_000)))
        let server = try ScriptedServer([hasLength ? answer : answer.chunked()])
        let arguments = ["--retry", "0", server.url(path: "a").absoluteString]
        let result = try await opget.start(arguments, limitingFilesTo: 2048).result()
        #expect(result.code == 10)
    }

    // MARK: - Ranges of the caller's

    @Test func whatARangeBroughtIsNotSaidToBeContinued() async throws {
        let part = Answer.respond(
            206,
            ["ETag": "\"v1\"", "Content-Range": "bytes 0-9/20"],
            body: "0123456789"
        )
        let server = try ScriptedServer([
            part.breaking(after: 4), part.breaking(after: 4), part,
        ])
        let address = server.url(path: "a").absoluteString
        let first = try await opget("-H", "Range: bytes=0-9", "--retry", "0", address)
        #expect(first.code == 4)
        #expect(!first.errors.contains("kept"))
        let second = try await opget("-H", "Range: bytes=0-9", "--retry", "1", address)
        #expect(second.code == 0)
        #expect(second.errors.contains("started over because the response to your own Range is never"))
        #expect(!second.errors.contains("the request is not the same"))
        #expect(try opget.text("a") == "0123456789")
    }
}
