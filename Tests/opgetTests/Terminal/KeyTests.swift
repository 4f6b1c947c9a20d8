import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

/// Keys, from the terminal's own for interrupting and stopping to opget's.
@Suite(.serialized) struct KeyTests {
    private let opget: Opget
    private let files: HeldFiles

    init() async throws {
        opget = try Opget()
        files = try HeldFiles()
        try await opget.write("old", "there", from: files.server.url(path: "there"))
        try opget.write((["there"] + HeldFiles.names).map(files.address).joined(separator: "\n"), "list")
    }

    private static let running = [
        "there: already there (3 B)",
        "alder.iso      [=>             ]   10%         1 B         0 B/s",
        "日本語.tar.gz  [===>           ]   25%         1 B         0 B/s",
        "stream         [               ]               1 B         0 B/s",
        "[1/4]  3 B  0 B/s",
    ]
    private static let paused = [
        "there: already there (3 B)",
        "alder.iso      [=>             ]   10%         1 B        paused",
        "日本語.tar.gz  [===>           ]   25%         1 B        paused",
        "stream         [               ]               1 B        paused",
        "[1/4]  3 B  paused  p resumes, q stops",
    ]
    private static let stopped = [
        "there: already there (3 B)",
        "Interrupted. 1 of 4 done: 0 fetched (0 B), 1 already there",
        "The partial data of 2 files is kept, but the server gives no proof that the file",
        " is still the same: the same command starts over.",
        "To resume where it stopped:",
        "  opget -i list",
    ]

    private func start(_ options: [String] = []) throws -> PseudoTerminal {
        try opget.start(inTerminal: options + ["-i", "list"])
    }

    /// Until everything that comes has come, and is drawn.
    private func waitForFrame(_ terminal: PseudoTerminal) async throws {
        try await terminal.wait("no frame") { $0.lines.last?.hasPrefix("[1/4]  3 B") == true }
    }

    // MARK: - opget's

    @Test func pPausesAndResumesEverything() async throws {
        let terminal = try start()
        try await terminal.wait(for: Self.running)
        #expect(!terminal.isOrdinary)
        terminal.type("p")
        try await terminal.wait(for: Self.paused)
        try await files.server.waitForOpenConnections(0)
        // F2 ends in a Q that is no q.
        terminal.type("\u{1B}OQ")
        terminal.type("x")
        terminal.type("p")
        // The one with a tag is continued, and the other two have to begin anew.
        try await files.server.waitForRequests(count: 6)
        let continued = Self.running[1].replacing("[=>  ", with: "[===>").replacing("10%  ", with: "20%  ")
            .replacing("1 B ", with: "2 B ")
        let frame = [continued] + Self.running[2...3] + ["[1/4]  4 B  0 B/s"]
        let screen = try await terminal.wait("not going on") { $0.lines.suffix(4) == frame[...] }
        // It says which bytes it threw away, in whichever order.
        let reason = ": started over because "
        #expect(screen.lines.filter { $0.contains(reason) }.count == 2)
        #expect(screen.lines.count == 7)
        files.gate.open()
        #expect(try await terminal.end() == 0)
        #expect(files.server.requests.compactMap { $0["Range"] } == ["bytes=1-"])
        #expect(try opget.text("alder.iso") == "0123456789")
        #expect(try opget.text("stream") == "012")
        #expect(terminal.screen.lines.last == "4 of 4 done: 3 fetched (17 B), 1 already there")
        #expect(terminal.isOrdinary)
    }

    @Test func nothingNewIsStartedWhileEverythingPauses() async throws {
        let terminal = try start(["-j", "2"])
        try await files.gate.waitForArrivals(2)
        try await terminal.wait("no frame") { $0.lines.last?.hasPrefix("[1/4]  2 B") == true }
        terminal.type("p")
        try await terminal.wait("no pause") { $0.showsPausedBatch }
        try await files.server.waitForOpenConnections(0)
        files.gate.open()
        #expect(files.server.requests.count == 2)
        terminal.type("p")
        #expect(try await terminal.end() == 0)
        #expect(files.server.requests.count == 5)
        #expect(try opget.files() == ["alder.iso", "list", "stream", "there", "日本語.tar.gz"])
    }

    @Test(arguments: ["q", "\u{3}", "pq", "p\u{3}"])
    func stoppingShowsHowToContinue(keys: String) async throws {
        let terminal = try start()
        try await waitForFrame(terminal)
        terminal.type(keys)
        // Of a signal it dies, and a key is none.
        #expect(try await terminal.end() == (keys.hasSuffix("q") ? 130 : -SIGINT))
        let screen = terminal.screen
        #expect(screen.lines == Self.stopped)
        #expect(screen.cursor == (6, 0))
        #expect(screen.isCursorShown)
        #expect(screen.problems == [])
        #expect(terminal.isOrdinary)
        #expect(try opget.files() == Self.files(["list", "there"]))
    }

    /// The screen when each of the held files has a byte.
    private static func files(_ complete: [String]) -> [String] {
        let partial = ["alder.iso", "stream", "日本語.tar.gz"].flatMap { [$0 + ".part", $0 + ".part.resume"] }
        return (complete + partial).sorted()
    }

    @Test func theAdviceForContinuingIsCorrect() async throws {
        let terminal = try start()
        try await waitForFrame(terminal)
        terminal.type("q")
        _ = try await terminal.end()
        files.gate.open()
        #expect(try await opget("-i", "list").code == 0)
        #expect(try opget.text("alder.iso") == "0123456789")
        #expect(try opget.text("there") == "old")
        // The one with a tag went on.
        #expect(files.server.requests.compactMap { $0["Range"] } == ["bytes=1-"])
        #expect(try opget.files() == ["alder.iso", "list", "stream", "there", "日本語.tar.gz"])
    }

    @Test func aPausedStreamContinuesWithoutAByteTwice() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(200, body: "0123456789").held(after: 4, by: gate)])
        let address = server.url(path: "a").absoluteString
        let shell = try opget.start(
            shellInTerminal: "opget --progress always -o - \(address) >out; echo \"ended $?\""
        )
        try await gate.waitForArrivals()
        try await shell.wait("no frame") { $0.lines.last?.contains("4 B") == true }
        shell.type("p")
        try await shell.wait("no pause") { $0.lines.last?.hasSuffix("paused") == true }
        gate.open()
        shell.type("p")
        try await shell.wait("no end") { $0.lines.last == "ended 0" }
        #expect(try opget.text("out") == "0123456789")
        #expect(server.requests.count == 1)
    }

    // MARK: - Whose keys they are

    @Test func keysAreNotTouchedWhereTheListIsTyped() async throws {
        let terminal = try opget.start(inTerminal: ["-i", "-"])
        terminal.type(files.address("alder.iso") + "\n\u{4}")
        try await terminal.wait("no frame") { $0.lines.last?.contains("10%") == true }
        #expect(terminal.isOrdinary)
        terminal.type("\u{3}")
        #expect(try await terminal.end() == -SIGINT)
        let advice = "To resume where it stopped, run the same command again with the same list."
        #expect(terminal.screen.lines.last == advice)
    }

    @Test func keysAreNotTouchedInFrontOfAnotherProgram() async throws {
        let shell = try opget.start(shellInTerminal: "opget -i list | cat; echo ended")
        try await waitForFrame(shell)
        #expect(shell.isOrdinary)
        files.gate.open()
        try await shell.wait("no end") { $0.lines.last == "ended" }
    }

    // MARK: - The terminal's

    @Test func ctrlZReleasesTheTerminalAndFgTakesItAgain() async throws {
        let shell = try opget.start(
            shellInTerminal: "opget -i list; echo \"stopped $?\"; read x; fg; echo \"ended $?\""
        )
        try await shell.wait(for: Self.running)
        shell.type("\u{1A}")
        let stopped = try await shell.wait("not stopped") { $0.lines.contains("stopped 148") }
        #expect(stopped.lines.first == Self.running[0])
        #expect(!stopped.lines.contains { $0.contains("alder.iso") })
        #expect(stopped.isCursorShown)
        #expect(shell.isOrdinary)
        shell.type("\n")
        let drawn = try await shell.wait("not drawn again") { $0.lines.last == Self.running.last }
        #expect(drawn.lines.suffix(4) == Self.running.suffix(4))
        #expect(!drawn.isCursorShown)
        #expect(!shell.isOrdinary)
        files.gate.open()
        try await shell.wait("no end") { $0.lines.last == "ended 0" }
        #expect(shell.screen.isCursorShown)
        #expect(shell.isOrdinary)
        #expect(shell.screen.problems == [])
    }

    @Test func aProcessThatWasStoppedWithoutNoticeTakesTheTerminalAgain() async throws {
        let shell = try opget.start(
            shellInTerminal: "opget -i list; stty sane; echo \"stopped $?\"; read x; fg; echo \"ended $?\""
        )
        try await waitForFrame(shell)
        shell.signal(SIGSTOP)
        try await shell.wait("not stopped") { $0.lines.contains { $0.hasPrefix("stopped") } }
        #expect(shell.isOrdinary)
        shell.type("\n")
        let screen = try await shell.wait("not drawn again") { screen in
            screen.lines.last?.hasPrefix("[1/4]  3 B") == true
                && screen.lines.contains { $0.hasPrefix("opget") }
        }
        #expect(screen.lines.contains { $0.hasPrefix("stopped") })
        shell.type("p")
        try await shell.wait("no pause") { $0.showsPausedBatch }
        shell.type("q")
        try await shell.wait("no end") { $0.lines.last == "ended 130" }
        #expect(shell.isOrdinary)
    }

    @Test func inTheBackgroundItNeitherStopsNorDraws() async throws {
        // With tostop, a process that writes from the background is stopped, unless it ignores the signal.
        let shell = try opget.start(
            shellInTerminal: "stty tostop; opget -i list & read x; jobs; fg; echo \"ended $?\""
        )
        try await files.gate.waitForArrivals(3)
        // A key that is not for opget: the shell reads it.
        shell.type("p\n")
        try await shell.wait("not drawn") { $0.lines.last == Self.running.last }
        #expect(shell.screen.lines.contains { $0.contains("Running") })
        shell.type("q")
        try await shell.wait("no end") { $0.lines.last == "ended 130" }
        #expect(shell.isOrdinary)
        #expect(shell.screen.lines.dropLast().suffix(2) == Self.stopped.suffix(2))
    }

    @Test func aProcessThatIsKilledByAFaultGivesTheTerminalBack() async throws {
        let terminal = try start()
        try await terminal.wait(for: Self.running)
        terminal.type("\u{1C}")
        #expect(try await terminal.end() == -SIGQUIT)
        #expect(terminal.screen.isCursorShown)
        #expect(terminal.screen.cursor == (5, 0))
        #expect(terminal.isOrdinary)
    }
}
