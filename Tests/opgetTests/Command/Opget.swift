import Foundation

@testable import OperationNetworkingTesting

/// The built `opget`, run as a process in an empty directory of its own.
struct Opget {
    /// The result of a run that has ended.
    struct Result: Sendable {
        let code: Int32
        let output: String
        let errors: String

        var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
    }

    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The command beside the bundle of the tests.
    static var binary: URL {
        let places =
            [Bundle.main.bundleURL]
            + CommandLine.arguments.map {
                URL(fileURLWithPath: $0).deletingLastPathComponent()
            }
        let candidates = places.map { $0.appendingPathComponent("opget") }
        let found = candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let found else { preconditionFailure("There is no opget in \(places.map(\.path))") }
        return found
    }

    // MARK: - Running

    /// Begins a run. Its input is empty unless some is given; its output is read to the end, or for a number
    /// of bytes. `redirection` is the shell's. No file may be longer than `blocks` of 512 bytes.
    /// The shell runs `script` first.
    func start(
        _ arguments: [String],
        input: String = "",
        environment: [String: String] = [:],
        closingOutputAfter limit: Int? = nil,
        redirection: String = "",
        limitingFilesTo blocks: Int? = nil,
        after script: String = ""
    ) throws -> RunningOpget {
        let process = Process()
        let prefix = script + (blocks.map { "ulimit -f \($0); " } ?? "")
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            ["-c", prefix + "exec \"$0\" \"$@\" \(redirection)", Self.binary.path] + arguments
        process.currentDirectoryURL = directory.url
        process.environment = Self.environment(environment)
        return try RunningOpget(process, input: input, outputLimit: limit)
    }

    /// Begins a run in a terminal of its own.
    func start(
        inTerminal arguments: [String],
        columns: Int = 80,
        rows: Int = 24,
        environment: [String: String] = [:]
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            "exec opget \"$@\"",
            arguments,
            in: directory.url,
            columns: columns,
            rows: rows,
            environment: Self.environment(environment)
        )
    }

    /// Begins a shell with job control in a terminal of its own, where `opget` is a command.
    func start(shellInTerminal script: String, columns: Int = 80, rows: Int = 24) throws -> PseudoTerminal {
        try PseudoTerminal(
            "set -m; " + script,
            [],
            in: directory.url,
            columns: columns,
            rows: rows,
            environment: Self.environment([:])
        )
    }

    /// That of the tests, without what changes how opget behaves.
    private static func environment(_ changes: [String: String]) -> [String: String] {
        var variables = ProcessInfo.processInfo.environment
        for name in [
            "COLUMNS", "CI", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "NO_COLOR", "CLICOLOR_FORCE",
            "FORCE_COLOR",
        ] {
            variables[name] = nil
        }
        variables["TERM"] = "xterm"
        let path = variables["PATH"] ?? "/usr/bin:/bin"
        variables["PATH"] = binary.deletingLastPathComponent().path + ":" + path
        return variables.merging(changes) { $1 }
    }

    /// Runs to the end.
    func callAsFunction(
        _ arguments: String...,
        input: String = "",
        environment: [String: String] = [:]
    ) async throws -> Result {
        try await start(arguments, input: input, environment: environment).result()
    }

    // MARK: - Files

    /// The names in the directory, sorted; of a directory below it as `sub/name`.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.url.path).sorted()
    }

    func text(_ name: String) throws -> String {
        try String(contentsOf: directory.file(name), encoding: .utf8)
    }

    /// Has opget save a file as if it came from this address: a proxy answers.
    func write(_ text: String, _ name: String, from address: URL, fields: FieldLines = [:]) async throws {
        let proxy = try ScriptedServer([.respond(200, fields, body: .text(text))])
        let options = ["-q", "--overwrite", "--proxy", proxy.url.absoluteString, "-o", name]
        let result = try await start(options + [address.absoluteString]).result()
        guard result.code == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: directory.file(name))
    }
}

/// A run that has not been seen to end.
final class RunningOpget: @unchecked Sendable {
    // @unchecked: the process is only signaled and waited for; what was read is in `Watched` values.
    private struct Text: Sendable {
        var data = Data()
        var isComplete = false
    }

    private let process: Process
    private let ended = Gate()
    private let output = Watched(Text())
    private let errors = Watched(Text())

    init(_ process: Process, input: String, outputLimit: Int?) throws {
        self.process = process
        let (inputPipe, outputPipe, errorPipe) = (Pipe(), Pipe(), Pipe())
        process.standardInput = inputPipe
        process.standardOutput = outputPipe
        process.standardError = errorPipe
        process.terminationHandler = { [ended] _ in ended.open() }
        try process.run()
        try inputPipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try inputPipe.fileHandleForWriting.close()
        Self.read(outputPipe.fileHandleForReading, into: output, limit: outputLimit)
        Self.read(errorPipe.fileHandleForReading, into: errors, limit: nil)
    }

    /// On a thread of its own, since it waits.
    private static func read(_ handle: FileHandle, into text: Watched<Text>, limit: Int?) {
        Thread.detachNewThread {
            if let limit {
                let data = try? handle.read(upToCount: limit)
                text.withLock { $0.data = data ?? Data() }
            } else {
                while case let piece = handle.availableData, !piece.isEmpty {
                    text.withLock { $0.data.append(piece) }
                }
            }
            try? handle.close()
            text.withLock { $0.isComplete = true }
        }
    }

    func signal(_ number: Int32) {
        kill(process.processIdentifier, number)
    }

    /// The program's command line, as `ps` shows it.
    func commandLine() throws -> String {
        let file = "/proc/\(process.processIdentifier)/cmdline"
        return String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
    }

    /// Waits until `text` was printed on standard error.
    func waitForErrors(containing text: String) async throws {
        try await Self.wait(for: text, in: errors)
    }

    /// Waits until `text` was printed on standard output.
    func waitForOutput(containing text: String) async throws {
        try await Self.wait(for: text, in: output)
    }

    private static func wait(for text: String, in printed: Watched<Text>) async throws {
        try await printed.wait(within: .waitingLimit) {
            "there was no \(text) in \(String(decoding: $0.data, as: UTF8.self))"
        } until: {
            String(decoding: $0.data, as: UTF8.self).contains(text) ? () : nil
        }
    }

    func result() async throws -> Opget.Result {
        do {
            try await ended.wait(within: .waitingLimit)
        } catch {
            signal(SIGKILL)
            throw error
        }
        let code = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return Opget.Result(
            code: code,
            output: try await Self.all(of: output),
            errors: try await Self.all(of: errors)
        )
    }

    private static func all(of text: Watched<Text>) async throws -> String {
        let data = try await text.wait(within: .waitingLimit) { _ in
            "the output did not end."
        } until: {
            $0.isComplete ? $0.data : nil
        }
        return String(decoding: data, as: UTF8.self)
    }
}
