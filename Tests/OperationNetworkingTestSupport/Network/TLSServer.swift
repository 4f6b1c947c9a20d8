import Foundation
import OperationNetworkingTesting

/// A script of `Tests/Servers`, in a process of its own, with a certificate of its own; ended with this object.
final class TLSServer: @unchecked Sendable {
    // @unchecked: nothing changes after init, and the process and the pipe are used again in deinit only.
    /// The certificate, which signed itself: what to trust.
    let certificate: URL
    let port: Int
    private let directory: TemporaryDirectory
    private let process = Process()
    private let input = Pipe()

    init(_ name: String = "tls_cut.py", _ arguments: String...) throws {
        directory = try TemporaryDirectory()
        certificate = directory.file("certificate.pem")
        let key = directory.file("key.pem")
        try Self.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout",
            key.path, "-out", certificate.path, "-days", "2", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ])
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Servers/\(name)").standardizedFileURL
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path, certificate.path, key.path] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            process.terminate()
            throw TestFailure("\(name) printed \(line.debugDescription)")
        }
        self.port = port
    }

    deinit {
        process.terminate()
    }

    func url(_ path: String) throws -> URL {
        guard let url = URL(string: "https://127.0.0.1:\(port)\(path)") else {
            throw TestFailure("no URL: \(path)")
        }
        return url
    }

    private static func run(_ arguments: [String]) throws {
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        program.arguments = arguments
        program.standardError = FileHandle.nullDevice
        try program.run()
        program.waitUntilExit()
        guard program.terminationStatus == 0 else { throw TestFailure("\(arguments[0]) failed") }
    }
}
