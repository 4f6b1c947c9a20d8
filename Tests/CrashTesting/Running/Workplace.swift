import Foundation

/// A fresh directory in which one file is fetched, and beside it a place for what the tool prints.
final class Workplace: Sendable {
    /// The directory in which the tool runs.
    let directory: URL
    private let log: URL

    init(in parent: URL) throws {
        let root = parent.appendingPathComponent(UUID().uuidString, isDirectory: true)
        directory = root.appendingPathComponent("files", isDirectory: true)
        log = root.appendingPathComponent("log", isDirectory: false)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        // Its parent is removed at the end, too.
        try? FileManager.default.removeItem(at: log.deletingLastPathComponent())
    }

    /// Starts a run.
    func start(_ command: [String], log name: String = "") async throws -> ChildProcess {
        try await ChildProcess.start(command, in: directory, log: URL(fileURLWithPath: log.path + name))
    }

    /// The last line that the last run of this log's name printed.
    func lastLine(log name: String = "") -> String {
        printed(log: name).split(separator: "\n").last.map(String.init) ?? ""
    }

    /// All that the last run of this log's name printed.
    func printed(log name: String = "") -> String {
        (try? String(contentsOfFile: log.path + name, encoding: .utf8)) ?? ""
    }

    /// The place of a file.
    func file(_ name: String) -> URL {
        directory.appendingPathComponent(name, isDirectory: false)
    }

    /// Whether there is a file called `name`.
    func has(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: file(name).path)
    }

    /// The names of all files.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }
}
