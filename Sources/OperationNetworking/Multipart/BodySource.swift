public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// The body of a request: bytes in memory, a file, a stream, or a sequence of these, such as a multipart
/// form.
///
/// The body is read in pieces while it is sent, so a body of any length uses about a megabyte of memory. A
/// repeatable source is read again if the request is sent again: after a redirect with 307 or 308, over
/// another connection, or by a copy of the operation.
///
/// ```swift
/// var request = URLRequest(url: url)
/// request.httpMethod = "PUT"
/// request.bodySource = try .file(video)
/// ```
public struct BodySource: Sendable {
    /// The segments, in the order in which they are sent.
    let segments: [BodySegment]
    /// A rate limit in bytes per second, set by the creator of the body; `nil` means no limit.
    let maximumRate: Int64?
    /// Whether a request has read the body.
    let use = StreamUse()

    init(_ segments: [BodySegment], maximumRate: Int64? = nil) {
        self.segments = segments
        self.maximumRate = maximumRate
    }

    // MARK: - Creating

    /// Bytes in memory.
    public static func data(_ data: Data) -> BodySource {
        BodySource([.data(data)])
    }

    /// A file, with its current length. Its bytes are read when the request is sent; if its length has
    /// changed, the request fails.
    ///
    /// - Throws: ``RequestBodyError/notAFileURL(_:)``, or ``RequestBodyError/unreadableFile(path:reason:)``,
    ///   also if it is not a regular file.
    public static func file(_ url: URL) throws(RequestBodyError) -> BodySource {
        BodySource([try .file(at: url)])
    }

    /// A stream, which can be read only once: a second read is an error.
    ///
    /// - Parameters:
    ///   - stream: a stream that has not been opened. It is opened, read and closed on a queue of the
    ///     library.
    ///   - length: the number of bytes to send; it is an error if the stream has fewer. `nil` sends all
    ///     bytes, chunked.
    /// - Returns: a source that is not repeatable.
    public static func stream(_ stream: InputStream, length: Int64? = nil) -> BodySource {
        BodySource([.stream(StreamSegment(stream, length: length, name: "the stream"))])
    }

    /// A stream that can be created again.
    ///
    /// - Parameters:
    ///   - length: see ``stream(_:length:)``.
    ///   - makeStream: returns a new stream of the same bytes. Called synchronously on any thread, so it
    ///     cannot use actor-isolated state. Returning `nil` is an error.
    /// - Returns: a repeatable source.
    public static func stream(
        length: Int64? = nil,
        makeStream: @escaping @Sendable () -> InputStream?
    ) -> BodySource {
        BodySource([.stream(StreamSegment(length: length, name: "the stream", make: makeStream))])
    }

    // MARK: - Properties

    /// The length in bytes; `nil` if it is not known in advance.
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

    /// The media type of a file's extension; `application/octet-stream` for everything else.
    var mediaType: String {
        guard segments.count == 1, case .file(let path, _) = segments.first else { return MediaTypes.unknown }
        return MediaTypes.type(ofExtension: URL(fileURLWithPath: path).pathExtension)
    }

    /// Returns a stream of the whole body, for APIs that take streams. Its `streamError` is a
    /// ``RequestBodyError``, or the error of the underlying stream.
    public func makeInputStream() -> InputStream {
        PieceStream(BodyReader(self))
    }

    /// Writes the body to a file atomically; replaces an existing file.
    ///
    /// Cancelling the task returns at once, and no file is written; an existing file is kept unless it is
    /// just being replaced. If a stream is blocked, the partial file is removed when the stream returns.
    ///
    /// - Parameter url: a file URL in an existing directory.
    /// - Throws: ``RequestBodyError``, such as ``RequestBodyError/fileInUse(path:)`` if an operation is
    ///   writing the existing file; the error of a stream; a `CocoaError` for the file; or
    ///   `URLError.cancelled`.
    public func write(to url: URL) async throws {
        let source = self
        let writing = BodyFile.Writing()
        let result = Locked<Result<Void, any Error>>(.failure(URLError.cancelled(url: url)))
        await Wait.until { end in
            // Not on a thread of the concurrency runtime, because a stream may block indefinitely.
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
    /// The body, if it is a ``BodySource``. Setting it also sets `httpBodyStream` and `Content-Length`
    /// (removed if the length is unknown), and removes `httpBody`.
    public var bodySource: BodySource? {
        get { ((httpBodyStream as? PieceStream)?.source as? BodyReader)?.body }
        set {
            // Foundation would keep both bodies.
            httpBody = nil
            httpBodyStream = newValue?.makeInputStream()
            setValue(newValue?.length.map { String($0) }, forHTTPHeaderField: "Content-Length")
        }
    }
}
