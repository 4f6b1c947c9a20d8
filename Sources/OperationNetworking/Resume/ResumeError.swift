public import Foundation

/// Why a body is not what was requested, or a transfer could not be resumed.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ResumeError: Error, Hashable, Sendable {
    /// The server's `Content-Range` is malformed. The associated value is the field value as received.
    case malformedContentRange(String)
    /// The server sent bytes from another offset than the requested one, and the body cannot be restarted. Both are
    /// offsets in bytes.
    case offsetMismatch(requested: Int64, received: Int64)
    /// The resource changed, or nothing proves that it did not, and the body cannot be restarted because the received
    /// bytes went to a stream.
    case representationChanged
    /// The server sent a part (206) although the whole was requested.
    case unrequestedPartialContent
    /// The server refused (416) a range and then the request for the whole. `asked` is the first byte of the range,
    /// `total` the length that the server named last; both in bytes.
    case rangeNotSatisfiable(requested: Int64, total: Int64?)
    /// The status is successful, but the body is not the requested file.
    case unexpectedStatus(Int)
    /// The server sent another range (206) than the caller's own `Range` requests. The values of `Range` and
    /// `Content-Range`.
    case rangeMismatch(requested: String, received: String)
    /// The body is longer or shorter than the range that the server named. Both lengths are in bytes.
    case rangeLengthMismatch(range: Int64, body: Int64)
    /// The server sent several parts in one body (`multipart/byteranges`), which is not a file. `asked` is the value
    /// of the caller's own `Range`. In memory, such a body is accepted if several ranges were requested.
    case severalParts(requested: String)
    /// The server sent something other than the file whose bytes are kept, or which was to be replaced: a response of
    /// another media type, or a shorter one without a validator. Most likely it is a page of a network that requires
    /// a sign-in, or of a service that is unavailable. The kept bytes, or the file, remain.
    /// ``DownloadOperation/startsOver`` accepts any response.
    ///
    /// `length` is the length of the response, `expected` that of the file or of the kept bytes; both in bytes.
    case unexpectedContent(mediaType: String?, length: Int64?, expected: Int64)
    /// The kept bytes cannot be resumed. Downloading the whole would be another attempt, which the ``RetryPolicy``
    /// does not allow. The kept bytes remain.
    case mustStartOver(RestartReason)
}

// MARK: - CustomStringConvertible

extension ResumeError: CustomStringConvertible {
    /// A sentence with the numbers.
    public var description: String {
        switch self {
        case .malformedContentRange(let fieldValue):
            "The server's Content-Range is invalid: \(fieldValue.excerpt().debugDescription)."
        case .offsetMismatch(let asked, let received):
            "The bytes from \(asked) were requested, but the server sent the bytes from \(received)."
        case .representationChanged:
            "The file changed on the server, or nothing proves that it did not, and the bytes already delivered cannot be replaced."
        case .unrequestedPartialContent:
            "The server sent a part (206) although the whole was requested."
        case .rangeNotSatisfiable(let asked, let total):
            "The server refused (416) the bytes from \(asked) and then the whole file, "
                + (total.map { "of \($0) bytes." } ?? "of unknown length.")
        case .unexpectedStatus(let code):
            "A file was requested, but the server answered \(code), which has no file content."
        case .rangeMismatch(let asked, let received):
            "The request asked for \(asked), but the server sent \(received.excerpt())."
        case .rangeLengthMismatch(let range, let body):
            "The server announced a range of \(range) bytes but sent \(body)."
        case .unexpectedContent(let type, let length, let expected):
            "The server sent \(type?.excerpt() ?? "something else"), "
                + (length.map { "\($0) bytes" } ?? "of unknown length")
                + ", instead of \(expected) bytes: is this the sign-in page of a captive portal?"
        case .mustStartOver(let reason):
            "The body must be sent from the beginning, because \(reason)."
        case .severalParts(let asked):
            "The request asked for \(asked), but the server sent several parts in one body (multipart/byteranges)."
        }
    }
}

// MARK: - LocalizedError

extension ResumeError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension ResumeError: ClassifiedError {
    package var traits: FailureTraits {
        switch self {
        case .representationChanged, .unexpectedContent, .mustStartOver: .temporary
        case .unexpectedStatus(let status): .status(status)
        case .malformedContentRange, .offsetMismatch, .unrequestedPartialContent, .rangeNotSatisfiable,
            .rangeMismatch, .rangeLengthMismatch, .severalParts:
            .permanent
        }
    }
}
