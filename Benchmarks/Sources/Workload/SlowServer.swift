import Foundation
import Measuring

/// The program SlowServer, which stands beside this one. It ends with this process.
final class SlowServer {
    let url: URL
    private let process = Process()
    private let lifeline = Pipe()

    /// `count`: requests that wait for each other; 0: none is answered.
    init(waitingFor count: Int) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("SlowServer")
        process.arguments = [String(count)]
        process.standardInput = lifeline
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .newlines)),
            let url = URL(string: "http://127.0.0.1:\(port)/")
        else { throw WorkError.missing("SlowServer") }
        self.url = url
    }

    deinit { try? lifeline.fileHandleForWriting.close() }
}
