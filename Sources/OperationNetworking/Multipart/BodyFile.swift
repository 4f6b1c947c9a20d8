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
    /// - Parameters:
    ///   - body: all that is to be in the file.
    ///   - url: its name.
    ///   - writing: tells whether it still is wanted.
    ///   - watch: is told before the file gets its name.
    /// - Throws: ``RequestBodyError/fileInUse(path:)`` if an operation of this process writes the file that
    ///   has the name; and as ``BodySource/write(to:)`` says.
    static func write(
        _ body: BodySource,
        to url: URL,
        _ writing: Writing = Writing(),
        watch: FileChange.Watcher? = nil
    ) throws {
        guard url.namesLocalFile else { throw RequestBodyError.notAFileURL(url.absoluteString) }
        let name = FileName.last(of: url.path)
        let parent = String(Substring(url.path.utf8.dropLast(name.utf8.count))) + "./"
        // A name may have 255 bytes, and this one needs some more.
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
    /// Whether it names a file on this machine ([RFC 8089](https://www.rfc-editor.org/rfc/rfc8089)): the
    /// scheme is `file`, the host is missing, empty or `localhost`, and the path is one that the system can
    /// be asked for. The path of any other URL would be that of some file here, too.
    var namesLocalFile: Bool {
        guard isFileURL, [nil, "", "localhost"].contains(host?.lowercased()) else { return false }
        // It is empty if it is no UTF-8.
        return !path.isEmpty && !path.utf8.contains(0)
    }
}
