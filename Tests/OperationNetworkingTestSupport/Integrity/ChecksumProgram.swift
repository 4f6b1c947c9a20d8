import Foundation

/// The programs of coreutils and OpenSSL that compute digests, which have nothing to do with how ours are computed.
enum ChecksumProgram {
    /// The program did not do its work.
    struct Failure: Error {
        let status: Int32
    }

    /// The output of the program.
    static func run(_ name: String, _ arguments: [String], in directory: URL) throws -> Data {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return printed
    }
}
