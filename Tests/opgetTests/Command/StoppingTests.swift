import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

@Suite(.serialized) struct StoppingTests {
    private let opget: Opget

    init() throws {
        opget = try Opget()
    }

    /// And is what the process dies of.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func aSignalStopsCleanlyAndSoon(signal: Int32) async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            routes: ["/done": [.respond(200, body: "x")]],
            otherwise: [.respond(200, ["ETag": "\"v1\""], body: "0123456789").held(after: 4, by: gate)]
        )
        let arguments =
            ["-j", "3"] + ["done", "a", "b", "c", "d"].map { server.url(path: $0).absoluteString }
        let run = try opget.start(arguments)
        try await gate.waitForArrivals(3)
        run.signal(signal)
        // The gate stays shut: what did not stop would exceed the limit of the wait.
        let result = try await run.result()
        #expect(result.code == -signal)
        // What had come is kept.
        let parts = ["a", "b", "c"].flatMap { [$0 + ".part", $0 + ".part.resume"] }
        #expect(try Set(opget.files()).subtracting(parts) == ["done"])
        #expect(result.errorLines.first?.hasPrefix("done: 1 B in ") == true)
        #expect(
            result.errorLines.dropFirst().dropLast() == [
                "Interrupted. 1 of 5 done: 1 fetched (1 B)",
                "To resume where it stopped:",
            ]
        )
        #expect(result.errorLines.last?.hasSuffix("/opget " + arguments.joined(separator: " ")) == true)
        #expect(server.requests.count == 4)
    }

    /// A list from standard input, be it a pipe or a file, is not there for the command as it was typed.
    @Test(arguments: ["", "< list"])
    func aCommandThatReadsStandardInputIsNotRepeated(redirection: String) async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .respond(200, ["ETag": "\"v1\""], body: "0123456789").held(after: 4, by: gate)
        ])
        let list = server.url(path: "a").absoluteString + "\n"
        try opget.write(list, "list")
        let run = try opget.start(
            ["-i", "/dev/stdin"],
            input: redirection.isEmpty ? list : "",
            redirection: redirection
        )
        try await gate.waitForArrivals()
        run.signal(SIGINT)
        let advice = try await run.result().errorLines.last
        #expect(advice == "To resume where it stopped, run the same command again with the same list.")
    }

    /// A shell without job control is in the same process group, and so are its commands.
    @Test func ctrlCEndsTheLoopOfAShell() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in
            .respond(200, ["ETag": "\"v1\""], body: "0123456789").held(after: 4, by: gate)
        }
        let address = server.url(path: "$name").absoluteString
        try opget.write("for name in a b; do opget \"\(address)\"; done; echo went on", "loop")
        let terminal = try opget.start(shellInTerminal: "bash loop")
        try await gate.waitForArrivals()
        terminal.type("\u{3}")
        _ = try await terminal.end()
        #expect(!terminal.output.contains("went on"))
        #expect(server.requests.count == 1)
    }

    @Test func aReaderThatHasHadEnoughEndsItQuietly() async throws {
        let server = try ScriptedServer([.respond(200, body: .generated(length: 50 << 20))])
        let run = try opget.start(["-o", "-", server.url(path: "a").absoluteString], closingOutputAfter: 5)
        let result = try await run.result()
        #expect(result.code == 141)
        #expect(result.output.count == 5)
        #expect(result.errors == "")
    }

    @Test func aPipeGetsPlainLines() async throws {
        let server = try ScriptedServer { .respond(200, body: .text($0.target)) }
        let result = try await opget(
            server.url(path: "a").absoluteString,
            server.url(path: "b").absoluteString
        )
        #expect(result.code == 0)
        #expect(result.errorLines.count == 3)
        #expect(!result.errors.contains("\u{1B}"))
        #expect(!result.errors.contains("\r"))
    }

    @Test func aQuietRunSaysNothing() async throws {
        let server = try ScriptedServer { .respond(200, body: .text($0.target)) }
        let result = try await opget(
            "-q",
            server.url(path: "a").absoluteString,
            server.url(path: "b").absoluteString
        )
        #expect(result.code == 0)
        #expect(result.errors == "")
    }

    @Test func drawnProgressFitsTheColumnsAndGivesTheCursorBack() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in .respond(200, body: "0123456789").held(after: 4, by: gate) }
        let names = [
            "%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E3%83%95%E3%82%A1%E3%82%A4%E3%83%AB.iso", "%1B%5B2Jb",
        ]
        let run = try opget.start(
            ["--progress", "always"] + names.map { server.url(path: $0).absoluteString },
            environment: ["COLUMNS": "30"]
        )
        try await gate.waitForArrivals(2)
        try await run.waitForErrors(containing: "  40%")
        gate.open()
        let result = try await run.result()
        #expect(result.code == 0)
        #expect(result.errors.hasSuffix("\u{1B}[?25h"))
        let visible = result.errors.replacing(#/\u{1B}\[[?0-9]*[A-Za-z]/#, with: "\n")
        for line in visible.split(whereSeparator: { $0.isNewline }) {
            let text = DisplayText(String(line))
            #expect(text.string == String(line))
            #expect(text.width < 30)
        }
    }
}
