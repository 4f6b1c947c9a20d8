import Foundation
import OperationNetworkingTesting

/// Compares files with what the server has, by a program that knows nothing of either.
enum Checksums {
    /// Prints a line for each file.
    /// - Returns: whether all are right.
    static func check(_ files: [Site.File], in directory: URL, _ screen: Screen) throws -> Bool {
        var areRight = true
        for file in files {
            let expected = try sum(of: file.body.data)
            let found = try sum(of: Data(contentsOf: directory.appendingPathComponent(file.name)))
            areRight = areRight && found == expected
            screen.say("  \(found == expected ? "OK   " : "WRONG") \(found.prefix(16))…  \(file.name)")
        }
        return areRight
    }

    private static func sum(of data: Data) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sha256sum"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        input.fileHandleForWriting.write(data)
        try input.fileHandleForWriting.close()
        let line = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: line.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }
}
