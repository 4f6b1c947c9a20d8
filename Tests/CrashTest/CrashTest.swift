import ArgumentParser
import Foundation
import OperationNetworkingCrashTesting
import OperationNetworkingTesting

/// The program behind `make crash-test`.
@main
struct CrashTest: AsyncParsableCommand {
    /// A part of the test.
    enum Part: String, CaseIterable, ExpressibleByArgument {
        case servers, rivals, resets, batch
    }

    /// The highest ratio of bytes served to file size at which enough counts as kept.
    private static let highestRatio = 1.05

    static let configuration = CommandConfiguration(
        commandName: "OperationNetworkingCrashTest",
        abstract: "Kills opget with SIGKILL at random moments, runs it again, and compares every byte.",
        discussion: """
            Exits with 1 if opget leaves a wrong file under its final name, or has more than \(highestRatio) times \
            the bytes sent where the rest of a file could be asked for. curl, wget and aria2 are shown beside it, \
            for comparison only.
            """
    )

    @Option(help: "Kill opget so often, over all servers together.")
    var kills = 300
    @Option(help: "Kill each other tool so often at each server.")
    var peerKills = 10
    @Option(
        help: "What the schedule is made of. The same seed kills at the same moments, as far as time allows."
    )
    var seed: UInt64 = 1
    @Option(parsing: .upToNextOption, help: ArgumentHelp("Which servers.", valueName: "server"))
    var servers: [String] = []
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Which tools: opget, curl, wget, aria2.", valueName: "tool"),
        transform: { name in
            guard let kind = Tool.Kind(rawValue: name) else {
                throw ValidationError("There is no tool \(name.debugDescription) here.")
            }
            return kind
        }
    )
    var tools: [Tool.Kind] = Tool.Kind.allCases
    @Option(parsing: .upToNextOption, help: ArgumentHelp("Which parts.", valueName: "part"))
    var parts: [Part] = Part.allCases
    @Option(help: "How often two processes want one file.")
    var rounds = 30
    @Option(help: "The file that is fetched through resets, in MiB.")
    var largeFile = 1024
    @Option(help: "How often the connection of that file is reset.")
    var resets = 200
    @Option(help: "How many files the list has.")
    var listLength = 500
    @Option(help: "How often the run with the list is killed.")
    var listKills = 10
    @Option(
        help: ArgumentHelp("The opget to test, instead of the one beside this program.", valueName: "path")
    )
    var opget: String?
    @Option(parsing: .upToNextOption, help: ArgumentHelp("Give this to opget, too.", valueName: "option"))
    var opgetOptions: [String] = []

    func validate() throws {
        let numbers = [kills, peerKills, rounds, resets, listLength, listKills]
        guard numbers.allSatisfy({ $0 >= 0 }), largeFile > 0 else {
            throw ValidationError("A number cannot be negative.")
        }
        for name in servers where !ServerKind.all.contains(where: { $0.name == name }) {
            let names = ServerKind.all.map(\.name).joined(separator: ", ")
            throw ValidationError("There is no server \(name.debugDescription), only \(names).")
        }
    }

    func run() async throws {
        let directory = try TemporaryDirectory()
        let interruption = Interruption(removing: directory.url)
        defer { interruption.cancel() }
        var options = try CrashTestOptions(
            directory: directory.url,
            opget: opget.map { URL(fileURLWithPath: $0) }
        )
        options.seed = seed
        options.opgetOptions = opgetOptions
        let screen = Screen()
        let tool = try await Tool.opget(options)
        let tester = CrashTester(tool, options)
        let peers = try await installedPeers(screen)

        screen.line("seed \(seed); opget is \(options.opget.path)")
        for tool in [tool] + peers { screen.line("\(tool) is \(tool.version)") }
        screen.line("")
        var faults: [String] = []
        if parts.contains(.servers) { faults += try await playServers(tool, peers, options, screen) }
        guard tools.contains(.opget) else { return }
        if parts.contains(.rivals) {
            let result = try await tester.playRivals(rounds: rounds)
            screen.line("\(result)")
            faults += result.counts.problems
        }
        if parts.contains(.resets) {
            let result = try await tester.playResets(
                length: largeFile << 20,
                resets: resets,
                retries: resets + 50
            )
            screen.line("\(result)")
            faults += result.counts.problems
            if result.ratio > Self.highestRatio {
                faults.append("Resets: more than \(Self.highestRatio) times the length was served.")
            }
        }
        if parts.contains(.batch) {
            let result = try await tester.playBatch(files: listLength, kills: listKills)
            screen.line("\(result)")
            faults += result.counts.problems
        }
        screen.line("")
        guard faults.isEmpty else {
            screen.line("What speaks against opget:")
            for fault in faults { screen.line("  \(fault)") }
            throw ExitCode(1)
        }
        screen.line("No wrong file of opget's, and nothing fetched twice that could be kept.")
    }

    // MARK: - Servers

    /// - Returns: what speaks against opget.
    private func playServers(
        _ tool: Tool,
        _ peers: [Tool],
        _ options: CrashTestOptions,
        _ screen: Screen
    ) async throws -> [String] {
        let kinds = ServerKind.all.filter { servers.isEmpty || servers.contains($0.name) }
        for kind in kinds {
            screen.line("\(kind.name.padding(toLength: 20, withPad: " ", startingAt: 0))\(kind.explanation)")
        }
        screen.line("")
        screen.line(RowTable.legend)
        screen.line(RowTable.header)
        let share = (kills + kinds.count - 1) / max(1, kinds.count)
        var totals: [Tool.Kind: RowTotal] = [:]
        var faults: [String] = []
        for kind in kinds {
            let own = tools.contains(.opget) ? [(tester: CrashTester(tool, options), kills: share)] : []
            let others = peers.map { (tester: CrashTester($0, options), kills: peerKills) }
            // Where its bytes are judged opget runs alone: a tool that gets no processor leaves bytes unread,
            // and they count as served.
            let results =
                kind.keepsRanges
                ? try await play(own, at: kind) + play(others, at: kind)
                : try await play(own + others, at: kind)
            for result in results {
                screen.line(RowTable.line(result))
                if result.tool.kind == .opget {
                    faults += result.verdict(highestRatio: Self.highestRatio) + result.counts.problems
                }
                totals[result.tool.kind, default: RowTotal()].add(result)
            }
        }
        screen.line("")
        for kind in Tool.Kind.allCases {
            guard let total = totals[kind] else { continue }
            screen.line("\(kind.rawValue): \(total)")
        }
        screen.line("")
        return faults
    }

    /// The runs wait most of the time, each for a server of its own.
    private func play(_ runs: [(tester: CrashTester, kills: Int)], at kind: ServerKind) async throws
        -> [RowResult]
    {
        try await withThrowingTaskGroup(of: (Int, RowResult).self) { group in
            for (index, run) in runs.enumerated() {
                group.addTask { (index, try await run.tester.playRow(kind, kills: run.kills)) }
            }
            let results = try await group.reduce(into: []) { $0.append($1) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func installedPeers(_ screen: Screen) async throws -> [Tool] {
        guard parts.contains(.servers), peerKills > 0 else { return [] }
        var peers: [Tool] = []
        for kind in tools where kind != .opget {
            if let tool = try await Tool.installed(kind) {
                peers.append(tool)
            } else {
                screen.line("\(kind.rawValue) is not installed here, and is left out.")
            }
        }
        return peers
    }
}
