import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Writes a body to a file atomically: it gets its final name only when it is complete.
enum BodyFile {
    private static let pieceSize = 64 * 1024

    /// The state of writing a file, which can be cancelled.
    ///
    /// | Phase     | cancel    | The body is written   |
    /// |-----------|-----------|-----------------------|
    /// | wanted    | cancelled | named                 |
    /// | cancelled | -         | the file is discarded |
    /// | named     | too late  | -                     |
    final class Writing: Sendable {
        private enum Phase {
            case wanted
            case cancelled
            case named
        }

        private let phase = Locked(Phase.wanted)

        var isCancelled: Bool { phase.withLock { $0 == .cancelled } }

        /// - Returns: whether writing is cancelled.
        func cancel() -> Bool {
            phase.withLock { phase in
                if phase == .wanted { phase = .cancelled }
                return phase == .cancelled
            }
        }

        /// - Returns: whether the file may get its name.
        fileprivate func name() -> Bool {
            phase.withLock { phase in
                if phase == .wanted { phase = .named }
                return phase == .named
            }
        }
    }

    /// Writes a body to a file; blocks. A failure leaves nothing behind, and keeps an existing file.
    /// - Parameters:
    ///   - body: the contents of the file.
    ///   - url: the location of the file.
    ///   - writing: whether writing has been cancelled.
    ///   - watch: notified before the file gets its name.
    /// - Throws: ``RequestBodyError/fileInUse(path:)`` if an operation of this process is writing the
    ///   existing file, and the errors of ``BodySource/write(to:)``.
    static func write(
        _ body: BodySource,
        to url: URL,
        _ writing: Writing = Writing(),
        watch: FileChange.Watcher? = nil
    ) throws {
        guard url.namesLocalFile else { throw RequestBodyError.notAFileURL(url.absoluteString) }
        let name = FileName.last(of: url.path)
        let parent = String(Substring(url.path.utf8.dropLast(name.utf8.count))) + "./"
        // A name is limited to 255 bytes, and the temporary one is longer.
        let temporary =
            ".\(String(decoding: name.utf8.prefix(200), as: UTF8.self)).\(UInt32.random(in: 0 ... .max))"
        let reader = BodyReader(body)
        defer { reader.stop() }
        do {
            try write(reader, to: parent + temporary, writing)
            guard writing.name() else { throw URLError.cancelled(url: url) }
            let folder = try DownloadFolder(forNamesIn: parent, watch: watch)
            try folder.rename(temporary, replacing: name, of: folder.identify(temporary))
        } catch {
            try? FileManager.default.removeItem(atPath: parent + temporary)
            if error is FileClaim.Taken { throw RequestBodyError.fileInUse(path: url.path) }
            throw FileError.foundation(error, url)
        }
    }

    private static func write(_ reader: BodyReader, to path: String, _ writing: Writing) throws {
        guard let file = try OutputFile(path: path) else { throw SystemError(ENXIO, "open \(path)") }
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

extension URL {
    /// Whether the URL names a file on this machine ([RFC 8089](https://www.rfc-editor.org/rfc/rfc8089)): the
    /// scheme is `file`, the host is missing, empty or `localhost`, and the path is valid. The path of
    /// another URL could otherwise be mistaken for a local file.
    var namesLocalFile: Bool {
        guard isFileURL, [nil, "", "localhost"].contains(host?.lowercased()) else { return false }
        // Empty if it is not UTF-8.
        return !path.isEmpty && !path.utf8.contains(0)
    }
}
