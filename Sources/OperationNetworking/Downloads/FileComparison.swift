package import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// Compares the end of a file, which another program made, with what a server has at that place.
///
/// Ask for ``range`` and give the answer to ``outcome(_:data:)``. Equal bytes are evidence, not proof: those
/// before them may differ all the same.
package struct FileComparison: Hashable, Sendable {
    /// The number of bytes that are compared.
    package static let length = 64 * 1024

    /// The result of the comparison.
    package enum Outcome: Hashable, Sendable {
        /// The server's file is as long, and ends with the same bytes. `isNewer`: whether it says that it
        /// changed after the file here was written; `nil`: it does not say when it changed.
        case same(isNewer: Bool?)
        /// The server's file is longer, and has the same bytes there.
        case begins(StartedFile)
        /// Other bytes, or fewer.
        case differs
        /// Nothing was compared: the server does not send the part that was asked for, or does not say of how
        /// many bytes. That its length and its date are those of the file says nothing of the file's bytes.
        case unknown
    }

    private let file: URL
    private let source: SourceFile
    private let start: Int64
    private let bytes: [UInt8]

    /// Reads the end of a file.
    /// - Returns: `nil` if there is none, or it has no bytes.
    /// - Throws: a `CocoaError` if it cannot be read.
    package init?(of file: URL) throws {
        let read = try FileError.translating(file) { () -> (SourceFile, [UInt8])? in
            guard let found = try NotedFile(path: file.path, attribute: FileRecord.attribute) else {
                return nil
            }
            let start = max(0, found.stamp.length - Int64(Self.length))
            return (SourceFile(found), try found.read(Self.length, at: start))
        }
        guard let (source, bytes) = read, source.stamp.length > 0 else { return nil }
        self.file = file
        self.source = source
        self.bytes = bytes
        start = max(0, source.stamp.length - Int64(Self.length))
    }

    private var stamp: FileStamp { source.stamp }

    /// The bytes of the longest answer that is of use: those that are compared, and one more.
    package static let answerLength = length + 1

    /// The value of the `Range` field to ask with: the last bytes of the file, and the one behind them, which
    /// only a longer file has. An answer that has just the bytes of the file would not tell whether that is
    /// all there is, if its server forgot to say 206.
    package var range: String { "bytes=\(start)-\(stamp.length)" }

    /// Judges an answer.
    /// - Parameters:
    ///   - response: its head, redirects followed.
    ///   - data: its body; `nil` if it was longer than ``answerLength``, and not received.
    /// - Returns: `nil` for an answer that says nothing of the file, such as 404.
    package func outcome(_ response: HTTPURLResponse, data: Data?) -> Outcome? {
        let fields = HeaderFields(response)
        switch response.statusCode {
        case 206:
            return outcome(ofPart: response, fields, data)
        case 200, 203:
            guard let data, isWhole(data, fields) else { return .unknown }
            return outcome(of: response, fields, Array(data), from: 0, total: Int64(data.count))
        case 416:
            return .differs
        default:
            return nil
        }
    }

    /// Whether the body of a 200 is certainly the whole: its end was marked, and it is not just what was
    /// asked for, which a server may send that forgets to say 206.
    private func isWhole(_ data: Data, _ fields: HeaderFields) -> Bool {
        let isMarked =
            fields.contentLength.map { $0 == Int64(data.count) }
            ?? ((try? MessageLength.isChunked(fields)) == true)
        let last = stamp.length - start
        let isAsked = Int64(data.count) == last + 1 || start > 0 && Int64(data.count) == last
        return isMarked && !isAsked && fields["Content-Range"] == nil && !fields.hasContentCoding
    }

    private func outcome(ofPart response: HTTPURLResponse, _ fields: HeaderFields, _ data: Data?) -> Outcome {
        guard let data, !fields.hasContentCoding, let text = fields["Content-Range"],
            let range = try? ContentRange(fieldValue: text), let part = range.bytes, let total = range.total,
            part.lowerBound == start, part.upperBound - part.lowerBound == Int64(data.count),
            part.upperBound <= stamp.length + 1
        else { return .unknown }
        return outcome(of: response, fields, Array(data), from: part.lowerBound, total: total)
    }

    /// `received` begins at `offset` of a whole of `total` bytes.
    private func outcome(
        of response: HTTPURLResponse,
        _ fields: HeaderFields,
        _ received: [UInt8],
        from offset: Int64,
        total: Int64
    ) -> Outcome {
        guard offset == start, total >= stamp.length, received.count >= bytes.count,
            received.prefix(bytes.count).elementsEqual(bytes)
        else { return .differs }
        guard total > stamp.length else { return .same(isNewer: isNewer(fields)) }
        return .begins(
            StartedFile(file: file, source: source, total: total, response: response, fields: fields)
        )
    }

    private func isNewer(_ fields: HeaderFields) -> Bool? {
        guard let text = fields["Last-Modified"], let date = HTTPDate(fieldValue: text) else { return nil }
        return date.secondsSince1970 > stamp.seconds
    }
}

/// A file that another program began, and whose last bytes the server has just sent again.
package struct StartedFile: Hashable, Sendable {
    let file: URL
    let source: SourceFile
    /// The length of the whole.
    let total: Int64
    /// The response's description of it.
    let origin: DownloadCheckpoint.Response

    /// In bytes.
    package var length: Int64 { stamp.length }

    private var stamp: FileStamp { source.stamp }

    /// That file, while it stays unchanged.
    package var replaceable: ReplaceableFile {
        .unchanged(length: stamp.length, seconds: stamp.seconds, nanoseconds: stamp.nanoseconds)
    }

    init(file: URL, source: SourceFile, total: Int64, response: HTTPURLResponse, fields: HeaderFields) {
        self.file = file
        self.source = source
        self.total = total
        var fields = fields
        fields["Content-Length"] = "\(total)"
        origin = DownloadCheckpoint.Response(
            url: response.url?.absoluteString ?? "",
            fields: fields,
            isHTTP10: false
        )
    }
}

extension PartialDownload {
    /// Bytes that are copied in one piece.
    private static let copiedLength = 1 << 20

    /// Begins with a copy of a file that another program began; that file stays as it is. The checkpoint says
    /// so before the first byte is there, and that the copy is complete after the last one is on the disk
    /// (P20).
    /// - Parameters:
    ///   - started: that file.
    ///   - isWanted: asked before each piece. If not, what was copied is removed, and so is the partial file.
    /// - Throws: ``DownloadError/destinationExists(_:)`` if the file was changed since it was looked at;
    ///   `URLError.cancelled`.
    func take(_ started: StartedFile, while isWanted: () -> Bool = { true }) throws {
        try FileError.translating(started.file) {
            guard let file = try NotedFile(path: started.file.path, attribute: FileRecord.attribute),
                SourceFile(file) == started.source
            else { throw DownloadError.destinationExists(started.file) }
            try begin(.start, total: started.total, origin: started.origin) { checkpoint in
                checkpoint.isJoinedByOverlap = true
                checkpoint.copy = DownloadCheckpoint.Copy(
                    source: started.source,
                    isOnDeviceOfPart: started.source.identity.device == checkpoint.part.device
                )
            }
            while count < started.length {
                guard isWanted() else {
                    try discard()
                    throw URLError(.cancelled)
                }
                let piece = try file.read(Self.copiedLength, at: count)
                guard !piece.isEmpty else { break }
                try write(piece.span)
            }
            guard try file.currentStamp == started.source.stamp, count == started.length else {
                throw DownloadError.destinationExists(started.file)
            }
            completeCopy()
            try flush()
        }
    }
}

extension SourceFile {
    init(_ file: NotedFile) {
        self.init(identity: file.identity, stamp: file.stamp)
    }
}

extension HeaderFields {
    fileprivate init(_ response: HTTPURLResponse) {
        self.init()
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            append(name: name, value: value)
        }
    }
}
