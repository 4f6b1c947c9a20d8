import Foundation

/// A program that fetches files, and how it continues one.
public struct Tool: Hashable, Sendable {
    /// The kind of program.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case opget, curl, wget, aria2
    }

    /// The program's kind.
    public let kind: Kind
    /// The place of the program.
    let program: URL
    /// The tool's own text about its version, in one line.
    public let version: String
    private let extra: [String]
    private let knowsRetries: Bool

    /// The program at `program`.
    ///
    /// - Throws: `ChildProcess.Failure` when it cannot be run.
    init(_ kind: Kind, program: URL, extra: [String] = []) async throws {
        self.kind = kind
        self.program = program
        self.extra = extra
        let lines = try await Self.output(of: [program.path, "--version"])
        version = lines.split(separator: "\n").first.map { String($0.prefix(40)) } ?? ""
        guard kind == .opget else {
            knowsRetries = true
            return
        }
        knowsRetries = try await Self.output(of: [program.path, "--help"]).contains("--retry")
    }

    /// The installed one of curl, wget or aria2; `nil` when there is none.
    public static func installed(_ kind: Kind) async throws -> Tool? {
        guard let program = SearchPath.find(kind == .aria2 ? "aria2c" : kind.rawValue) else { return nil }
        return try await Tool(kind, program: program)
    }

    /// The opget that `options` name.
    public static func opget(_ options: CrashTestOptions) async throws -> Tool {
        try await Tool(.opget, program: options.opget, extra: options.opgetOptions)
    }

    // MARK: - Commands

    /// Whether everything under the final name claims to be complete. The others write under that name from
    /// the first byte on: theirs is a claim when they exit with 0.
    var namesOnlyCompleteFiles: Bool { kind == .opget }

    /// The command that fetches `url` as `name`, and continues a partial file: the same each time. It tries
    /// `retries` times more by itself, if it can.
    func command(fetching url: URL, as name: String, retries: Int = 3) -> [String] {
        switch kind {
        case .opget:
            return [program.path, "--progress", "never", "-o", name] + retry(retries) + extra + [
                url.absoluteString
            ]
        case .curl:
            let retry = ["--retry", "\(retries)", "--retry-delay", "1"]
            return [program.path, "-sS", "-f", "-C", "-"] + retry + ["-o", name, url.absoluteString]
        case .wget:
            return [
                program.path, "-nv", "-c", "--tries=\(retries + 1)", "--waitretry=1", "-O", name,
                url.absoluteString,
            ]
        case .aria2:
            let quiet = ["--console-log-level=error", "--summary-interval=0", "--show-console-readout=false"]
            let retry = ["--max-tries=\(retries + 1)", "--retry-wait=1"]
            return [program.path, "-c", "--allow-overwrite=true"] + quiet + retry + [
                "-o", name, url.absoluteString,
            ]
        }
    }

    /// The command that fetches the addresses in the file `list`. Only of opget.
    func command(fetchingList list: String) -> [String] {
        [program.path, "--progress", "never", "-i", list] + retry(3) + extra
    }

    private func retry(_ count: Int) -> [String] {
        knowsRetries ? ["--retry", "\(count)"] : []
    }

    private static func output(of command: [String]) async throws -> String {
        let directory = FileManager.default.temporaryDirectory
        let log = directory.appendingPathComponent("CrashTesting-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let child = try await ChildProcess.start(command, in: directory, log: log)
        defer { child.kill() }
        _ = try await child.waitForEnd(within: .seconds(30))
        return try String(contentsOf: log, encoding: .utf8)
    }
}

extension Tool: CustomStringConvertible {
    /// The tool's name.
    public var description: String { kind.rawValue }
}
