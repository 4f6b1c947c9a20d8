import Foundation
import OperationNetworking

/// Writes events, one JSON object per line, each line in one write.
///
/// A slow reader slows down the run. After a failure nothing more is written.
struct EventWriter {
    private let output: Terminal
    private let encoder: JSONEncoder
    private var hasFailed = false

    init(_ output: Terminal) {
        self.output = output
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    var descriptor: Int32 { output.descriptor }

    /// Returns the line of an event without its line end: `event` and `time` first, then its fields, sorted.
    func line(_ event: some Event, at time: Date) throws -> String {
        let fields = String(decoding: try encoder.encode(event), as: UTF8.self).dropFirst().dropLast()
        let time = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let head = "\"event\":\"\(type(of: event).name.rawValue)\",\"time\":\"\(time)\""
        return Self.escaped("{" + head + (fields.isEmpty ? "" : ",") + fields + "}")
    }

    /// Escapes characters that the encoder does not, but that line readers or terminals may interpret
    /// (U+0085, U+2028, bidirectional controls). They can only occur within strings.
    private static func escaped(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: \.changesLayout) else { return line }
        return line.unicodeScalars.map { scalar in
            guard scalar.changesLayout else { return String(scalar) }
            return String(scalar).utf16.map { "\\u" + String(format: "%04x", $0) }.joined()
        }
        .joined()
    }

    /// - Throws: `Failure` at the first failed write; `Failure.closedOutput` if the reader has closed the
    ///   output.
    mutating func write(_ event: some Event) throws {
        guard !hasFailed else { return }
        let code = output.write(bytes: Array((try line(event, at: .now) + "\n").utf8)[...])
        guard code != 0 else { return }
        hasFailed = true
        if code == EPIPE { throw Failure.closedOutput }
        throw Failure(Outcome(file: code), "Events could not be written: \(Failure.reason(code)).")
    }
}
