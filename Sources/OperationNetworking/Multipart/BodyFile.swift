import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Writes a body to a file, under its final name only when it is whole.
enum BodyFile {
    private static let pieceSize = 64 * 1024

    /// Whether a file is still to be written.
    ///
    /// | phase     | cancel             | the whole is written |
    /// |-----------|--------------------|----------------------|
    /// | wanted    | cancelled          | gets its name        |
    /// | cancelled | -                  | is thrown away       |
    /// | named     | - : it is too late | -                    |
    final class Writing: Sendable {
        private enum Phase {
            case wanted
            case cancelled
            case named
        }

        private let phase = Locked(Phase.wanted)

        var isCancelled: Bool { phase.withLock { $0 == .cancelled } }

        /// - Returns: whether there will be no file.
        func cancel() -> Bool {
            phase.withLock { phase in
                if phase == .wanted { phase = .cancelled }
                return phase == .cancelled
            }
        }

        /// - Returns: whether the file gets its name.
        fileprivate func name() -> Bool {
            phase.withLock { phase in
                if phase == .wanted { phase = .named }
                return phase == .named
            }
        }
    }

    /// Writes a body to a file; blocking. A failure leaves nothing behind, and keeps an older file of that
    /// name.
    static func write(_ body: BodySource, to url: URL, _ writing: Writing = Writing()) throws {
        guard url.namesLocalFile else { throw RequestBodyError.notAFileURL(url.absoluteString) }
        let name = ".\(url.lastPathComponent).\(UInt32.random(in: 0 ... .max))"
        let temporary = url.deletingLastPathComponent().appendingPathComponent(name)
        let reader = BodyReader(body)
        defer { reader.stop() }
        do {
            try write(reader, to: temporary, writing)
            guard writing.name() else { throw URLError.cancelled(url: url) }
            try FileName.rename(temporary.path, to: url.path)
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            throw FileError.foundation(error, url)
        }
    }

    private static func write(_ reader: BodyReader, to url: URL, _ writing: Writing) throws {
        guard let file = try OutputFile(path: url.path) else { throw SystemError(ENXIO, "open \(url.path)") }
        while !writing.isCancelled {
            let piece = try reader.next(atMost: pieceSize)
            if piece.isEmpty { break }
            var bytes = piece.span
            while !bytes.isEmpty {
                let written = try file.write(bytes)
                bytes = bytes.extracting(written...)
            }
        }
        try file.close()
    }
}
