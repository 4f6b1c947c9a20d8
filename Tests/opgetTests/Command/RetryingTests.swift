import Foundation
import Glibc
import OperationNetworkingTesting
import Testing

@testable import opget

/// Attempts, times and rates.
@Suite(.serialized) struct RetryingTests {
    private let opget: Opget

    init() throws {
        opget = try Opget()
    }

    @Test func aBusyServerIsAskedAgainWhenItSays() async throws {
        let server = try ScriptedServer([
            .respond(503, ["Retry-After": "1"], body: "busy"), .respond(200, body: "0123456789"),
        ])
        let start = ContinuousClock.now
        let result = try await opget("--json", server.url(path: "a").absoluteString)
        #expect(result.code == 0)
        #expect(ContinuousClock.now - start >= .seconds(1))
        #expect(try opget.text("a") == "0123456789")
        #expect(result.errors.contains("a: waiting 1."))
        #expect(result.errors.contains(", the server answered 503 (Service Unavailable)\n"))
        let retry = try #require(result.output.split(separator: "\n").first { $0.contains("itemRetrying") })
        #expect(retry.contains("\"status\":503"))
        #expect(retry.contains("\"errorClass\":\"server\""))
    }

    @Test func aConnectionThatBreaksContinuesFromTheLastByte() async throws {
        let representation = Representation("0123456789", entityTag: .strong("v1"))
        let server = try ScriptedServer(
            serving: representation,
            answers: [.currentRepresentation.breaking(after: 4), .currentRepresentation]
        )
        let result = try await opget("--json", server.url(path: "a").absoluteString)
        #expect(result.code == 0)
        #expect(try opget.text("a") == "0123456789")
        #expect(server.requests[1]["Range"] == "bytes=4-")
        #expect(result.output.contains("\"event\":\"itemResumed\""))
        #expect(result.output.contains("\"errorClass\":\"network\""))
        // The bytes before came in this run, too.
        #expect(!result.output.contains("resumedAt"))
        #expect(result.errors.contains("a: resumed at 4 B\n"))
    }

    @Test func standardOutputGetsNoByteTwice() async throws {
        let server = try ScriptedServer(
            serving: Representation("0123456789", entityTag: .strong("v1")),
            answers: [.currentRepresentation.breaking(after: 4), .currentRepresentation]
        )
        let result = try await opget("-o", "-", server.url(path: "a").absoluteString)
        #expect(result.code == 0)
        #expect(result.output == "0123456789")
    }

    @Test func standardOutputThatCannotContinueFailsWithTheFirstError() async throws {
        let server = try ScriptedServer([
            .respond(200, body: "0123456789", breakingAfter: 4), .respond(200, body: "0123456789"),
        ])
        let result = try await opget("-o", "-", server.url(path: "a").absoluteString)
        #expect(result.code == 4)
        #expect(result.output == "0123")
        #expect(result.errors.contains("the connection ended after 4. The server does not prove"))
    }

    /// A terminal, or another device, takes nothing back.
    @Test(arguments: [nil, .strong("v1")] as [Representation.EntityTag?])
    func aTerminalGetsNoByteTwice(tag: Representation.EntityTag?) async throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(master) }
        var (number, locked): (Int32, Int32) = (0, 0)
        // TIOCGPTN and TIOCSPTLCK: macros that Swift does not import.
        try #require(ioctl(master, 0x8004_5430, &number) == 0 && ioctl(master, 0x4004_5431, &locked) == 0)
        // What was written stays to be read while it is open.
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        let server = try ScriptedServer(
            serving: Representation("0123456789", entityTag: tag),
            answers: [.currentRepresentation.breaking(after: 4), .currentRepresentation]
        )
        let result: Opget.Result
        do {
            defer { close(terminal) }
            result = try await opget("-o", "/dev/pts/\(number)", server.url(path: "a").absoluteString)
        }
        // The kernel brings what was written to this end later, in any number of pieces. When nobody has the
        // terminal open, read(2) waits for all of it, and then says EIO.
        var (text, bytes) = ("", [UInt8](repeating: 0, count: 100))
        while case let count = read(master, &bytes, bytes.count), count > 0 {
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        #expect(text == (tag == nil ? "0123" : "0123456789"))
        #expect(result.code == (tag == nil ? 4 : 0))
        #expect(result.errors.contains("The server does not prove") == (tag == nil))
    }

    @Test(arguments: [0, 1, 2])
    func itIsTriedAgainSoOften(retries: Int) async throws {
        let server = try ScriptedServer([.respond(503, body: "busy")])
        let result = try await opget("--retry", "\(retries)", server.url(path: "a").absoluteString)
        #expect(result.code == 8)
        #expect(server.requests.count == retries + 1)
        #expect(try opget.files() == [])
    }

    /// Bytes that come a second time are not new.
    @Test(arguments: [0, 2])
    func aServerThatBreaksOffAtOnePlaceIsTriedAgainSoOften(retries: Int) async throws {
        let server = try ScriptedServer { _ in
            .respond(200, body: .generated(length: 100_000), breakingAfter: 40_000)
        }
        let result = try await opget("--retry", "\(retries)", server.url(path: "a").absoluteString)
        #expect(result.code == 4)
        #expect(server.requests.count == retries + 1)
    }

    @Test func noAttemptBeginsAfterTheTimeForThem() async throws {
        let server = try ScriptedServer([.respond(503, ["Retry-After": "100"], body: "busy")])
        let result = try await opget("--retry-max-time", "5", server.url(path: "a").absoluteString)
        #expect(result.code == 8)
        #expect(server.requests.count == 1)
    }

    @Test func allFilesTogetherKeepToTheRate() async throws {
        let server = try ScriptedServer([.respond(200, body: .generated(length: 100_000))])
        let addresses = ["a", "b"].map { server.url(path: $0).absoluteString }
        let start = ContinuousClock.now
        let result = try await opget.start(["--limit-rate", "100K"] + addresses).result()
        #expect(result.code == 0)
        // 200,000 bytes at 102,400 a second; some come before the limit can be felt.
        #expect(ContinuousClock.now - start > .seconds(1))
        #expect(try Data(contentsOf: opget.directory.file("b")).count == 100_000)
    }

    @Test func aFileThatTakesTooLongIsGivenUpAndResumedLater() async throws {
        let body = String(repeating: "x", count: 50_000)
        let server = try ScriptedServer(
            serving: Representation(.text(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.stalling(after: 40_000), .currentRepresentation]
        )
        let address = server.url(path: "a").absoluteString
        let result = try await opget("--max-time", "2", "--json", address)
        #expect(result.code == 4)
        #expect(result.errors.contains("It took longer than 2.0s"))
        #expect(result.output.contains("\"errorClass\":\"network\""))
        #expect(
            result.errorLines.last
                == "The partial data of one file is kept: the same command resumes from there."
        )
        #expect(try opget.files() == ["a.part", "a.part.resume"])
        #expect(try await opget(address).code == 0)
        #expect(server.requests[1]["Range"] != nil)
        #expect(try opget.text("a") == body)
    }

    @Test func aServerThatCannotBeReachedIsGivenUp() async throws {
        let server = try UnreachableServer()
        let start = ContinuousClock.now
        let result = try await opget(
            "--connect-timeout",
            "0.3",
            "--retry",
            "1",
            "-o",
            "a",
            server.url.absoluteString
        )
        #expect(result.code == 4)
        #expect(ContinuousClock.now - start > .milliseconds(600))
        #expect(result.errors.contains("a: waiting 0."))
        #expect(try opget.files() == [])
    }

    @Test func aServerThatSaysNothingMoreIsGivenUp() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789").stalling(after: 4)])
        let result = try await opget("--timeout", "1.5", "--retry", "0", server.url(path: "a").absoluteString)
        #expect(result.code == 4)
        #expect(try opget.files() == ["a.part", "a.part.resume"])
    }
}
