import Foundation
import OperationNetworkingTesting

/// SHA-256 by coreutils' `sha256sum`, which is independent of the code that received the files.
enum Checksums {
    /// The program failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the checksum of the content on the server, which is piped to the program.
    static func sum(of content: PatternBody) throws -> String {
        let (output, status) = try run([], input: content)
        guard status == 0, let sum = output.split(separator: " ").first else {
            throw Failure(description: "sha256sum ended with status \(status).")
        }
        return String(sum)
    }

    /// Compares files with the checksums of the content on the server.
    ///
    /// - Returns: a line for each file, `name: OK` or `name: FAILED`, and whether all are right.
    static func check(
        _ files: [SampleFile],
        in directory: TemporaryDirectory
    ) throws -> (lines: [String], areRight: Bool) {
        let sums = try files.map { "\(try sum(of: $0.content))  \($0.name)\n" }
        let list = directory.file("SHA256SUMS")
        try Data(sums.joined().utf8).write(to: list)
        let (output, status) = try run(["--check", "--strict", list.path], in: directory.url)
        return (output.split(separator: "\n").map(String.init), status == 0)
    }

    private static func run(
        _ arguments: [String],
        in directory: URL? = nil,
        input content: PatternBody? = nil
    ) throws -> (output: String, status: Int32) {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sha256sum"] + arguments
        process.currentDirectoryURL = directory
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let length = content?.length ?? 0
        for start in stride(from: 0, to: length, by: 1 << 20) {
            guard let piece = content?.data(in: start..<min(start + 1 << 20, length)) else { break }
            try input.fileHandleForWriting.write(contentsOf: piece)
        }
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (text, process.terminationStatus)
    }
}
