import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

/// A run goes on where another one was stopped, however that was.
@Suite(.serialized) struct ResumingTests {
    private let opget: Opget
    private let body = String(repeating: "0123456789", count: 10_000)

    init() throws {
        opget = try Opget()
    }

    private func server(_ answers: [Answer], misbehaving: Representation.Misbehavior...) throws
        -> ScriptedServer
    {
        var representation = Representation(.text(body), entityTag: .strong("v1"))
        representation.misbehaviors = misbehaving
        return try ScriptedServer(serving: representation, answers: answers)
    }

    /// Runs until bytes are there, then sends the signal.
    private func stop(_ server: ScriptedServer, _ signal: Int32, _ options: [String] = []) async throws
        -> Opget.Result
    {
        let address = server.url(path: "a").absoluteString
        let run = try opget.start(["--json"] + options + [address])
        try await run.waitForOutput(containing: "\"received\":")
        run.signal(signal)
        return try await run.result()
    }

    private var part: Int { (try? Data(contentsOf: opget.directory.file("a.part")).count) ?? 0 }

    @Test(arguments: [SIGKILL, SIGINT, SIGTERM])
    func aRunThatWasStoppedContinuesWhereItStopped(signal: Int32) async throws {
        let server = try server([.currentRepresentation.stalling(after: 60_000), .currentRepresentation])
        let stopped = try await stop(server, signal)
        #expect(stopped.code == -signal)
        #expect(try opget.files() == ["a.part", "a.part.resume"])
        let offset = part
        #expect(offset > 0)
        let result = try await opget(server.url(path: "a").absoluteString)
        #expect(result.code == 0)
        #expect(try opget.text("a") == body)
        #expect(try opget.files() == ["a"])
        #expect(server.requests[1]["Range"] == "bytes=\(offset)-")
        #expect(server.requests[1]["If-Range"] == "\"v1\"")
        #expect(result.errorLines.first == "a: resumed at \(ByteCount(Int64(offset)).text)")
        #expect(result.errorLines.last?.hasSuffix(", resumed at \(ByteCount(Int64(offset)).text)") == true)
    }

    /// A run that came as far as the last byte, and not to the name.
    @Test("P7") func aCompletePartIsReportedAsResumed() async throws {
        let gate = Gate()
        let server = try server([
            .currentRepresentation.held(after: .body(body.utf8.count - 1), by: gate), .currentRepresentation,
        ])
        let run = try opget.start([server.url(path: "a").absoluteString])
        try await gate.waitForArrivals()
        try opget.write("mine", "a")
        gate.open()
        #expect(try await run.result().code == 11)
        try FileManager.default.removeItem(at: opget.directory.file("a"))
        let result = try await opget("--json", server.url(path: "a").absoluteString)
        #expect(result.code == 0)
        #expect(try opget.text("a") == body)
        #expect(server.requests.count == 1)
        #expect(result.errorLines.first == "a: resumed at \(ByteCount(Int64(body.utf8.count)).text)")
        #expect(result.output.contains("\"resumedAt\":\(body.utf8.count)"))
    }

    /// As the event's table says: the bytes of what is kept, although none of them came now.
    @Test func whatIsKeptIsReportedAlthoughNothingCame() async throws {
        let server = try server([
            .currentRepresentation.breaking(after: 60_000), .hangUp, .respond(404), .currentRepresentation,
        ])
        let address = server.url(path: "a").absoluteString
        for (isFirst, code) in [(true, 4), (false, 4), (false, 8)] as [(Bool, Int32)] {
            let result = try await opget("--json", "--retry", "0", address)
            #expect(result.code == code)
            let lines = result.output.split(separator: "\n")
            let event = try #require(lines.first { $0.contains("itemFinished") })
            #expect(part > 0 && event.contains("\"bytes\":\(part),"))
            #expect(event.contains("\"resumedAt\":\(part),") == !isFirst)
            #expect(event.contains("\"partialPath\":\"a.part\""))
        }
        #expect(try await opget(address).code == 0)
    }

    @Test func theCommandShownAfterAnInterruptionResumes() async throws {
        let server = try server([.currentRepresentation.stalling(after: 60_000), .currentRepresentation])
        let stopped = try await stop(server, SIGINT, ["--no-resume"])
        let address = server.url(path: "a").absoluteString
        #expect(stopped.errorLines.dropLast().last == "To resume where it stopped:")
        // Without --no-resume.
        #expect(stopped.errorLines.last?.hasSuffix("/opget --json \(address)") == true)
        #expect(stopped.output.contains("\"partialPath\":\"a.part\""))
        #expect(try await opget("--json", address).code == 0)
        #expect(server.requests[1]["Range"] != nil)
    }

    /// Their numbers mean nothing to the shell that the user types in.
    @Test(arguments: [["--json", "-o", "/dev/fd/3"], ["--json", "--json-fd", "3"]])
    func aCommandWithDescriptorsIsNotShown(options: [String]) async throws {
        let gate = Gate()
        let server = try server([.currentRepresentation.held(after: 60_000, by: gate)])
        let address = server.url(path: "a").absoluteString
        let run = try opget.start(options + [address], redirection: "3> x")
        try await gate.waitForArrivals()
        run.signal(SIGINT)
        let result = try await run.result()
        gate.open()
        #expect(result.code == -SIGINT)
        #expect(result.errorLines.last?.hasSuffix(", run the same command again.") == true)
    }

    /// Nothing names the file that the bytes are of.
    @Test func whatIsSaidAfterAnInterruptionIsTrueOfBytesThatAreOfNoUse() async throws {
        let server = try ScriptedServer(
            serving: Representation(.text(body)),
            answers: [.currentRepresentation.stalling(after: 60_000), .currentRepresentation]
        )
        let stopped = try await stop(server, SIGINT)
        #expect(
            stopped.errorLines.dropLast().suffix(2) == [
                "The partial data of one file is kept, but the server gives no proof that the file is still the same: "
                    + "the same command starts over.",
                "To fetch it from the beginning:",
            ]
        )
        #expect(try await opget("--json", server.url(path: "a").absoluteString).code == 0)
        #expect(server.requests[1]["Range"] == nil)
    }

    /// One server, two sites, or two variants of a file, that have one date.
    @Test(arguments: ["Host", "User-Agent"])
    func bytesOfAnotherSiteOrVariantAreNotContinued(field: String) async throws {
        @Sendable func representation(_ text: String) -> Representation {
            Representation(
                .text(text),
                lastModified: Date(timeIntervalSince1970: 1_700_000_000),
                headers: ["Vary": "User-Agent"]
            )
        }
        let other = String(repeating: "abcdefghij", count: 10_000)
        let server = try ScriptedServer { request in
            let text = request[field] == "a.example" ? body : other
            return .representation(representation(text)).breaking(
                after: .body(
                    request["Range"] == nil && request[field] == "a.example" ? 60_000 : text.utf8.count
                )
            )
        }
        let address = server.url(path: "a").absoluteString
        func run(_ value: String) async throws -> Opget.Result {
            try await opget("--retry", "0", "-H", "\(field): \(value)", address)
        }
        #expect(try await run("a.example").code == 4)
        let result = try await run("b.example")
        #expect(result.code == 0)
        #expect(try opget.text("a") == other)
        #expect(result.errors.contains("started over because the request is not the same as before"))
        // The file is not done for the first, and is for the second.
        #expect(try await run("a.example").code == 11)
        #expect(try await run("b.example").code == 0)
        #expect(server.requests.map { $0[field] } == ["a.example", "b.example"])
        // The tag or date of one is not shown to the other.
        _ = try await opget("-N", "--retry", "0", "-H", "\(field): a.example", address)
        #expect(server.requests.last?["If-Modified-Since"] == nil)
    }

    @Test func severalSignalsLoseNothing() async throws {
        let server = try server([.currentRepresentation.stalling(after: 60_000), .currentRepresentation])
        let run = try opget.start(["--json", server.url(path: "a").absoluteString])
        try await run.waitForOutput(containing: "\"received\":")
        run.signal(SIGINT)
        run.signal(SIGINT)
        #expect(try await run.result().code == -SIGINT)
        #expect(try await opget(server.url(path: "a").absoluteString).code == 0)
        #expect(try opget.text("a") == body)
        #expect(server.requests[1]["Range"] != nil)
    }

    @Test func aFileThatChangedMeanwhileIsFetchedAgain() async throws {
        let server = try server([.currentRepresentation.stalling(after: 60_000), .currentRepresentation])
        _ = try await stop(server, SIGKILL)
        server.setRepresentation(Representation("other", entityTag: .strong("v2")))
        let result = try await opget("--json", server.url(path: "a").absoluteString)
        #expect(result.code == 0)
        #expect(try opget.text("a") == "other")
        #expect(result.output.contains("\"event\":\"itemRestarted\""))
        #expect(result.output.contains("\"reason\":\"resourceChanged\""))
        let lines = result.errorLines
        #expect(lines.first?.hasSuffix("from the beginning, because the file changed on the server.") == true)
        #expect(lines.contains("a: started over because the file changed on the server"))
    }

    @Test func aServerThatIgnoresRangesCausesANewStart() async throws {
        let server = try server(
            [.currentRepresentation.stalling(after: 60_000), .currentRepresentation],
            misbehaving: .ignoresRange
        )
        _ = try await stop(server, SIGKILL)
        let result = try await opget(server.url(path: "a").absoluteString)
        #expect(result.code == 0)
        #expect(try opget.text("a") == body)
        #expect(try opget.files() == ["a"])
    }

    @Test(arguments: [["--continue"], ["-c"], ["-C", "-"]])
    func continuingHasTheOptionsOfOtherTools(options: [String]) async throws {
        let server = try server([.currentRepresentation.stalling(after: 60_000), .currentRepresentation])
        _ = try await stop(server, SIGKILL)
        let result = try await opget.start(options + [server.url(path: "a").absoluteString]).result()
        #expect(result.code == 0)
        #expect(server.requests[1]["Range"] != nil)
    }

    @Test func startingOverThrowsAwayWhatWasThere() async throws {
        let server = try server([.currentRepresentation.stalling(after: 60_000), .currentRepresentation])
        _ = try await stop(server, SIGKILL)
        let result = try await opget("--no-resume", server.url(path: "a").absoluteString)
        #expect(result.code == 0)
        #expect(server.requests[1]["Range"] == nil)
        #expect(try opget.text("a") == body)
        #expect(try opget.files() == ["a"])
    }

    @Test func aFileThatIsFetchedByAnotherRunIsLeftToIt() async throws {
        let server = try server([.currentRepresentation.stalling(after: 60_000)])
        let address = server.url(path: "a").absoluteString
        let first = try opget.start(["--json", address])
        try await first.waitForOutput(containing: "\"received\":")
        let second = try await opget(address)
        #expect(second.code == 3)
        #expect(second.errors.contains("is being downloaded by another operation or process"))
        server.release()
        #expect(try await first.result().code == 0)
        #expect(try opget.text("a") == body)
    }

    @Test func theFirstFailureCanBeTheLastOne() async throws {
        let server = try ScriptedServer(
            routes: ["/bad": [.respond(404)]],
            otherwise: [.respond(200, body: "x")]
        )
        let addresses = ["a", "bad", "c"].map { server.url(path: $0).absoluteString }
        let result = try await opget.start(["-j", "1", "--json", "--fail-early"] + addresses).result()
        #expect(result.code == 8)
        #expect(try opget.files() == ["a"])
        #expect(server.requests.map(\.target) == ["/a", "/bad"])
        #expect(result.output.contains("\"unfinished\":1"))
        #expect(
            result.errors.contains("Stopped at the first failure. 1 of 3 done: 1 fetched (1 B), 1 failed")
        )
    }

    @Test func theFirstFailureStopsWhatRunsAndKeepsIt() async throws {
        let server = try ScriptedServer(
            routes: ["/bad": [.respond(404)]],
            otherwise: [.respond(200, ["ETag": "\"v1\""], body: "0123456789").stalling(after: 4)]
        )
        let addresses = ["a", "bad"].map { server.url(path: $0).absoluteString }
        let result = try await opget.start(["--json", "--fail-early"] + addresses).result()
        #expect(result.code == 8)
        #expect(result.output.contains("\"result\":\"stopped\""))
        #expect(result.output.contains("\"outcome\":\"server\""))
    }
}
