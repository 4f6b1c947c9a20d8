public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// The body of a request: bytes in memory, a file, a stream, or several of them in a row, such as a multipart
/// form.
///
/// It is read piece by piece while it is sent, so a body of any length takes a megabyte or so. A source that
/// is repeatable is read again when the request has to be: after a redirect with 307 or 308, over another
/// connection, by a copy of the operation.
///
/// ```swift
/// var request = URLRequest(url: url)
/// request.httpMethod = "PUT"
/// request.bodySource = try .file(video)
/// ```
public struct BodySource: Sendable {
    /// The segments, in the order in which they are sent.
    let segments: [BodySegment]
    /// A limit in bytes per second, chosen by the maker of the body; `nil`: no limit.
    let maximumRate: Int64?
    /// The use by requests.
    let use = StreamUse()

    init(_ segments: [BodySegment], maximumRate: Int64? = nil) {
        self.segments = segments
        self.maximumRate = maximumRate
    }

    // MARK: - Making

    /// Bytes in memory.
    public static func data(_ data: Data) -> BodySource {
        BodySource([.data(data)])
    }

    /// A file with the length that it has now; its bytes are read when the request is sent. If its length has
    /// changed by then, the request fails.
    ///
    /// - Throws: ``RequestBodyError/notAFileURL(_:)``, or ``RequestBodyError/unreadableFile(path:reason:)``
    ///   also for what is not a regular file.
    public static func file(_ url: URL) throws(RequestBodyError) -> BodySource {
        BodySource([try .file(at: url)])
    }

    /// A stream, to be read once: a second reader gets an error.
    ///
    /// - Parameters:
    ///   - stream: not yet opened; it is opened, read and closed on a queue of the library.
    ///   - length: the number of its bytes to send; it is an error if it has fewer. `nil`: all of them, in
    ///     chunks.
    /// - Returns: a source that is not repeatable.
    public static func stream(_ stream: InputStream, length: Int64? = nil) -> BodySource {
        BodySource([.stream(StreamSegment(stream, length: length, name: "the stream"))])
    }

    /// A stream that can be made again.
    ///
    /// - Parameters:
    ///   - length: as in ``stream(_:length:)``.
    ///   - makeStream: a new stream of the same bytes; called on any thread, and at once: so it cannot use
    ///     what belongs to an actor. `nil` is an error.
    /// - Returns: a repeatable source.
    public static func stream(
        length: Int64? = nil,
        makeStream: @escaping @Sendable () -> InputStream?
    ) -> BodySource {
        BodySource([.stream(StreamSegment(length: length, name: "the stream", make: makeStream))])
    }

    // MARK: - Properties

    /// The length in bytes; `nil`: known only at the end.
    public var length: Int64? {
        var sum: Int64 = 0
        for segment in segments {
            guard let length = segment.length, length >= 0 else { return nil }
            let (next, isTooMuch) = sum.addingReportingOverflow(length)
            guard !isTooMuch else { return nil }
            sum = next
        }
        return sum
    }

    /// Whether it can be read more than once.
    public var isRepeatable: Bool { segments.allSatisfy(\.isRepeatable) }

    /// The type that a file's extension stands for; `application/octet-stream` for everything else.
    var mediaType: String {
        guard segments.count == 1, case .file(let path, _) = segments.first else { return MediaTypes.unknown }
        return MediaTypes.type(ofExtension: URL(fileURLWithPath: path).pathExtension)
    }

    /// A stream of all its bytes from the first on, for an API that takes streams. Its `streamError` is a
    /// ``RequestBodyError``, or the error of the stream that failed.
    public func makeInputStream() -> InputStream {
        PieceStream(BodyReader(self))
    }

    /// Writes all of it to a file, which is there only when it is whole; another one of that name is
    /// replaced.
    ///
    /// Cancelling the task ends the wait at once, and no file is written; an older one stays, unless it is
    /// being replaced just then. A stream that blocks is read until it gives something; what was written goes
    /// then.
    ///
    /// - Parameter url: a file URL, in a directory that exists.
    /// - Throws: ``RequestBodyError``, such as ``RequestBodyError/fileInUse(path:)`` if an operation writes
    ///   the file that has the name; the error of a stream, a `CocoaError` of the file that is written, or
    ///   `URLError.cancelled`.
    public func write(to url: URL) async throws {
        let source = self
        let writing = BodyFile.Writing()
        let result = Locked<Result<Void, any Error>>(.failure(URLError.cancelled(url: url)))
        await Wait.until { end in
            // It may wait for a stream as long as that likes, so not on a thread of the concurrency runtime.
            DispatchQueue(label: "OperationNetworking.BodySource").async {
                let outcome = Result { try BodyFile.write(source, to: url, writing) }
                result.withLock { $0 = outcome }
                end()
            }
        } onCancel: {
            writing.cancel()
        }
        try result.withLock { $0 }.get()
    }
}

// MARK: - URLRequest

extension URLRequest {
    /// The body, if it is one of ours. Setting it sets `httpBodyStream` and `Content-Length`, which is
    /// removed where the length is not known, and takes `httpBody` away.
    public var bodySource: BodySource? {
        get { ((httpBodyStream as? PieceStream)?.source as? BodyReader)?.body }
        set {
            // One body takes the place of the other: Foundation keeps both.
            httpBody = nil
            httpBodyStream = newValue?.makeInputStream()
            setValue(newValue?.length.map { String($0) }, forHTTPHeaderField: "Content-Length")
        }
    }
}
