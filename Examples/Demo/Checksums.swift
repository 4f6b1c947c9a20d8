import Foundation
import OperationNetworkingTesting

/// SHA-256 by coreutils' `sha256sum`, which has nothing to do with how the files came.
enum Checksums {
    /// The program could not do its work.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The sum of what the server has: its bytes go to the program through a pipe, never through a file.
    static func sum(of content: PatternBody) throws -> String {
        let (output, status) = try run([], input: content)
        guard status == 0, let sum = output.split(separator: " ").first else {
            throw Failure(description: "sha256sum ended with status \(status).")
        }
        return String(sum)
    }

    /// Has files compared with the sums of what the server has.
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
