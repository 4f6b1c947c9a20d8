import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

/// The screen while nothing moves: every speed has come down to 0 then.
@Suite(.serialized) struct DrawingTests {
    private let opget: Opget
    private let files: HeldFiles

    init() async throws {
        opget = try Opget()
        files = try HeldFiles()
        try await opget.write("old", "there", from: files.server.url(path: "there"))
    }

    private func start(
        _ options: [String] = [],
        columns: Int = 80,
        rows: Int = 24,
        environment: [String: String] = [:]
    ) throws -> PseudoTerminal {
        try opget.start(
            inTerminal: options + [files.address("there")] + files.addresses,
            columns: columns,
            rows: rows,
            environment: environment
        )
    }

    private static let there = "there: already there (3 B)"
    private static let eighty = [
        there,
        "alder.iso      [=>             ]   10%         1 B         0 B/s",
        "日本語.tar.gz  [===>           ]   25%         1 B         0 B/s",
        "stream         [               ]               1 B         0 B/s",
        "[1/4]  3 B  0 B/s",
    ]
    private static let forty = [
        there,
        "alder.iso       10%         1 B",
        "日本語.tar.gz   25%         1 B",
        "stream                      1 B",
        "[1/4]  3 B  0 B/s",
    ]
    private static let twenty = [
        there,
        "alder.iso       10%", "日本語.tar.gz   25%", "stream           1B",
        "[1/4]  3 B  0 B/s",
    ]

    @Test func everyRunningTransferHasALineAndTheBatchHasOne() async throws {
        let terminal = try start()
        let screen = try await terminal.wait(for: Self.eighty)
        #expect(!screen.isCursorShown)
        #expect(screen.cursor == (4, 0))
        files.gate.open()
        #expect(try await terminal.end() == 0)
        let end = terminal.screen
        #expect(end.problems == [])
        #expect(end.isCursorShown)
        #expect(end.lines.count == 5)
        #expect(end.lines.last == "4 of 4 done: 3 fetched (17 B), 1 already there")
        #expect(end.cursor == (5, 0))
        #expect(terminal.isOrdinary)
    }

    @Test func linesGrowAndShrinkWithTheWindow() async throws {
        let terminal = try start()
        try await terminal.wait(for: Self.eighty)
        terminal.resize(columns: 40, rows: 24)
        try await terminal.wait(for: Self.forty)
        terminal.resize(columns: 20, rows: 10)
        try await terminal.wait(for: ["there: already there", " (3 B)"] + Self.twenty.dropFirst())
        terminal.resize(columns: 80, rows: 24)
        try await terminal.wait(for: Self.eighty)
        terminal.resize(columns: 200, rows: 24)
        let bar = "[===>" + String(repeating: " ", count: 35) + "]"
        let wide = try await terminal.wait("no bar of 40 columns") { screen in
            screen.lines.last == Self.eighty.last && screen.lines.contains { $0.contains(bar) }
        }
        #expect(wide.lines.count == 5)
        #expect(wide.lines[0] == Self.there)
        #expect(wide.problems == [])
        files.gate.open()
        #expect(try await terminal.end() == 0)
    }

    @Test(arguments: [(20, twenty), (40, forty)])
    func aNarrowWindowHasWhatMattersMost(columns: Int, lines: [String]) async throws {
        let terminal = try start(columns: columns)
        try await terminal.wait(for: columns == 20 ? ["there: al…ere (3 B)"] + lines.dropFirst() : lines)
        files.gate.open()
        #expect(try await terminal.end() == 0)
    }

    @Test func aLowWindowShowsHowManyMoreThereAre() async throws {
        let terminal = try start(rows: 4)
        try await terminal.wait(
            for: [Self.there, Self.eighty[1], "… and 2 more", "[1/4]  3 B  0 B/s"]
        )
        files.gate.open()
        #expect(try await terminal.end() == 0)
    }

    @Test func columnsOverrideTheWindow() async throws {
        let terminal = try start(environment: ["COLUMNS": "40"])
        try await terminal.wait(for: Self.forty)
        files.gate.open()
        #expect(try await terminal.end() == 0)
    }

    @Test func linesThatAreTooWideBecauseOfColumnsAreErasedAnyway() async throws {
        let terminal = try start(columns: 40, environment: ["COLUMNS": "80"])
        // Each of them takes two rows, but the last.
        try await terminal.wait("three lines in two rows each") { screen in
            screen.lines.count == 8 && screen.lines.last == "[1/4]  3 B  0 B/s"
        }
        terminal.type("p")
        let screen = try await terminal.wait("no pause") { $0.showsPausedBatch }
        #expect(screen.lines.count == 8)
        #expect(screen.lines.first == Self.there)
        #expect(screen.problems == [])
        terminal.type("q")
        #expect(try await terminal.end() == 130)
        #expect(terminal.screen.lines.first == Self.there)
        #expect(terminal.screen.lines[1] == "Interrupted. 1 of 4 done: 0 fetched (0 B")
    }

    // MARK: - Colors

    @Test func statesHaveAColor() async throws {
        let terminal = try start([files.address("missing")])
        try await terminal.wait("no frame") { $0.lines.last?.hasPrefix("[2/5]") == true }
        terminal.type("p")
        // Each line says so when its transfer has stopped.
        let screen = try await terminal.wait("no pause") {
            $0.showsPausedBatch && $0.text(inColor: 33) == ["paused", "paused", "paused", "paused"]
        }
        #expect(screen.text(inColor: 31) == ["opget:"])
        terminal.type("q")
        _ = try await terminal.end()
        #expect(terminal.screen.text(inColor: 33) == ["Interrupted."])
    }

    @Test(arguments: [[:], ["NO_COLOR": "1"]])
    func colorsCanBeUnwanted(environment: [String: String]) async throws {
        let options = environment.isEmpty ? ["--color", "never"] : []
        let terminal = try start(options + [files.address("missing")], environment: environment)
        try await terminal.wait("no frame") { $0.lines.last?.hasPrefix("[2/5]") == true }
        terminal.type("p")
        try await terminal.wait("no pause") { $0.showsPausedBatch }
        terminal.type("q")
        #expect(try await terminal.end() == 130)
        #expect(!terminal.output.contains(#/\u{1B}\[[0-9;]*m/#))
    }

    // MARK: - Nothing to draw on

    @Test(arguments: [["TERM": "dumb"], ["CI": "true"]])
    func whereNothingCanBeDrawnThereAreOnlyLines(environment: [String: String]) async throws {
        let options =
            environment["CI"] == nil ? ["--progress", "always", "--color", "always"] : ["--color", "never"]
        let terminal = try start(options, environment: environment)
        try await files.gate.waitForArrivals(3)
        try await terminal.wait(for: [Self.there])
        terminal.type("p")
        try await terminal.wait(for: [Self.there, "Paused. Press p to resume."])
        terminal.type("p")
        let lines = [Self.there, "Paused. Press p to resume.", "Resumed."]
        try await terminal.wait("not going on") { $0.lines.prefix(3) == lines[...] }
        files.gate.open()
        #expect(try await terminal.end() == 0)
        #expect(!terminal.output.contains("\u{1B}"))
        // Two files had to start over, and the line that says why needs two rows.
        #expect(terminal.screen.lines.count == 11)
        #expect(terminal.screen.lines.last == "4 of 4 done: 3 fetched (17 B), 1 already there")
        #expect(terminal.isOrdinary)
    }

    @Test(arguments: ["plain", "never"])
    func plainLinesCanBeWanted(mode: String) async throws {
        let terminal = try start(["--progress", mode])
        try await files.gate.waitForArrivals(3)
        try await terminal.wait(for: [Self.there])
        files.gate.open()
        #expect(try await terminal.end() == 0)
        #expect(!terminal.output.contains("\u{1B}"))
        #expect(terminal.screen.lines.count == 5)
    }
}
