import Foundation

/// The command `curl`, which knows nothing of this library.
enum CurlCommand {
    struct Outcome: Sendable {
        /// The exit code of curl: [EXIT CODES](https://curl.se/docs/manpage.html#EXIT).
        let code: Int32
        /// Whether it ended by itself: not by a signal, which is the code then.
        let hasEnded: Bool
        /// The standard output.
        let output: String
        /// The error output.
        let complaint: String

        /// The value of a line `NAME: VALUE` of the output; of the last one if there are several.
        func value(_ name: String) -> String? {
            output.split(whereSeparator: \.isNewline).last {
                $0.lowercased().hasPrefix("\(name.lowercased()):")
            }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    /// Runs it with its defaults, without proxies of the environment.
    ///
    /// - Parameters:
    ///   - arguments: what comes after `curl --disable --silent --show-error --max-time 20`.
    ///   - environment: variables beside those of this process.
    /// - Returns: what came of it, also if it failed.
    /// - Throws: what `Process` throws.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
        let (process, output, complaint) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "--disable", "--silent", "--show-error", "--max-time", "20"] + arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.lowercased().hasSuffix("_proxy") }
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = complaint
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        let complained = try complaint.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(
            code: process.terminationStatus,
            hasEnded: process.terminationReason == .exit,
            output: String(decoding: printed, as: UTF8.self),
            complaint: String(decoding: complained, as: UTF8.self)
        )
    }
}
