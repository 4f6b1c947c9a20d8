import Foundation
internal import OperationNetworkingSystem

/// Writes a body to a file, under its final name only when it is whole.
enum BodyFile {
    private static let pieceSize = 64 * 1024

    /// Blocking. Nothing is left behind by a failure, and what was there before stays then.
    static func write(_ body: BodySource, to url: URL) throws {
        guard url.namesLocalFile else { throw RequestBodyError.notAFileURL(url.absoluteString) }
        let name = ".\(url.lastPathComponent).\(UInt32.random(in: 0 ... .max))"
        let temporary = url.deletingLastPathComponent().appendingPathComponent(name)
        let reader = BodyReader(body)
        defer { reader.stop() }
        do {
            try write(reader, to: temporary)
            try FileName.rename(temporary.path, to: url.path)
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            throw FileError.foundation(error, url)
        }
    }

    private static func write(_ reader: BodyReader, to url: URL) throws {
        guard let file = try OutputFile(path: url.path) else { throw SystemError(ENXIO, "open \(url.path)") }
        while true {
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
