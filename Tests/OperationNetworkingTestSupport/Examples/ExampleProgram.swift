import Dispatch
import Foundation
import OperationNetworkingTesting
import Testing

/// A program of `Examples/`, run as a process of its own.
struct ExampleProgram {
    /// The result of a run that has ended.
    struct Result: Sendable {
        let status: Int32
        let output: String
        let errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Whether the programs are there: a build for a sanitizer is without them.
    static let areBuilt = builtProgram("Start") != nil

    let name: String

    init(_ name: String) {
        self.name = name
    }

    /// Runs the program to its end, or for 30 seconds: then its status is 124. `folder` is its working
    /// directory, that of the tests unless given.
    func run(_ arguments: String..., proxy: URL? = nil, in folder: URL? = nil) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: .init { try runAndWait(arguments, proxy, folder) })
            }
        }
    }

    private func runAndWait(_ arguments: [String], _ proxy: URL?, _ folder: URL?) throws -> Result {
        let program = try #require(builtProgram(name))
        let directory = try TemporaryDirectory()
        let (output, errors) = (directory.file("output"), directory.file("errors"))
        for file in [output, errors] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "30", program.path] + arguments
        process.environment = environment(proxy)
        if let folder { process.currentDirectoryURL = folder }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: try String(contentsOf: directory.file("output"), encoding: .utf8),
            errors: try String(contentsOf: directory.file("errors"), encoding: .utf8)
        )
    }

    /// Ours, but with this proxy or none.
    private func environment(_ proxy: URL?) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment = environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }
        environment["http_proxy"] = proxy?.absoluteString
        // A sample ends with what it still uses: that is no leak.
        environment["ASAN_OPTIONS"] = environment["ASAN_OPTIONS"].map { $0 + ":detect_leaks=0" }
        return environment
    }
}
