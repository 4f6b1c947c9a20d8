public import Foundation

/// Why a body is not the bytes that were asked for, or could not be continued from where it stopped.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ResumeError: Error, Hashable, Sendable {
    /// The server's `Content-Range` is not one; the associated value is the field value as received.
    case malformedContentRange(String)
    /// The server sent bytes from another offset than the one asked for, and the body cannot start again.
    case offsetMismatch(asked: Int64, received: Int64)
    /// The bytes on the server are not, or cannot be proven to be, those that were received before, and the
    /// body cannot start again: it went to a stream that has no way back.
    case representationChanged
    /// The server sent a part (206) although the whole was asked for.
    case unrequestedPartialContent
    /// The server refused (416) a range, and then the request without one; `total` is the length it named
    /// last.
    case rangeNotSatisfiable(asked: Int64, total: Int64?)
    /// The status means success, but not that the bytes asked for follow.
    case unexpectedStatus(Int)
    /// The server sent a part (206), and not the one that the caller's own `Range` asks for: it begins or
    /// ends elsewhere, or is of another unit. Both field values, `Range` and `Content-Range`.
    case rangeMismatch(asked: String, received: String)
    /// The server named a range, and the body has another length than that, or is longer; in bytes.
    case rangeLengthMismatch(range: Int64, body: Int64)
    /// The server sent several parts in one body (`multipart/byteranges`), which are no file; `asked` is the
    /// value of the caller's own `Range`. A body in memory may be that if several ranges were asked for.
    case severalParts(asked: String)
    /// The server sent something else than the file whose bytes are kept, or that it was to replace: an answer of
    /// another media type, or one without a validator that is shorter. Most likely it is the page of a network
    /// that asks for a sign-in, or of a service that does not work now. The kept bytes, or the file, stay;
    /// ``DownloadOperation/startsOver`` accepts any answer. `length`: of the answer; `expected`: of the file, or
    /// of the kept bytes; both in bytes.
    case somethingElse(mediaType: String?, length: Int64?, expected: Int64)
    /// The bytes that came before are of no use, so that the whole has to come: that is another attempt, and the
    /// ``RetryPolicy`` allows none. What is kept stays.
    case mustStartOver(RestartReason)
}

// MARK: - CustomStringConvertible

extension ResumeError: CustomStringConvertible {
    /// One sentence, with the numbers.
    public var description: String {
        switch self {
        case .malformedContentRange(let fieldValue):
            "The server's Content-Range is not one: \(fieldValue.excerpt().debugDescription)."
        case .offsetMismatch(let asked, let received):
            "Asked for the bytes from \(asked); the server sent the bytes from \(received)."
        case .representationChanged:
            "The file changed on the server, or nothing proves that it did not, and what came cannot be taken back."
        case .unrequestedPartialContent:
            "The server sent a part (206) although the whole was asked for."
        case .rangeNotSatisfiable(let asked, let total):
            "The server refused (416) the bytes from \(asked) on, and then the whole, "
                + (total.map { "of \($0) bytes." } ?? "of unknown length.")
        case .unexpectedStatus(let code):
            "Asked for the bytes of a file; the server answered \(code), which has no such bytes."
        case .rangeMismatch(let asked, let received):
            "Asked for \(asked); the server sent \(received.excerpt())."
        case .rangeLengthMismatch(let range, let body):
            "The server named a range of \(range) bytes, and sent \(body)."
        case .somethingElse(let type, let length, let expected):
            "The server sent \(type?.excerpt() ?? "something else"), "
                + (length.map { "\($0) bytes" } ?? "of unknown length")
                + ", instead of \(expected) bytes: does the network ask for a sign-in?"
        case .mustStartOver(let reason):
            "The body has to come from the beginning, because \(reason)."
        case .severalParts(let asked):
            "Asked for \(asked); the server sent several parts in one body (multipart/byteranges)."
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
        case .representationChanged, .somethingElse, .mustStartOver: .passing
        case .unexpectedStatus(let status): .status(status)
        case .malformedContentRange, .offsetMismatch, .unrequestedPartialContent, .rangeNotSatisfiable,
            .rangeMismatch, .rangeLengthMismatch, .severalParts:
            .lasting
        }
    }
}
