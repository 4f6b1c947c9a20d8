public import Foundation
internal import OperationNetworkingSystem

/// Why a request body could not be created, or could not be read while it was sent.
///
/// As `NSError` it has the domain of ``RequestSerializationError``, which is AFNetworking's, and a code of
/// `URLError`.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RequestBodyError: Error, Hashable, Sendable {
    /// The URL, as text, is not a file URL.
    case notAFileURL(String)
    /// The file does not exist, is not a regular file, or cannot be read. `reason` is the system's.
    case unreadableFile(path: String, reason: String)
    /// The file to be replaced is being written by an operation of this process. It is unchanged.
    case fileInUse(path: String)
    /// The file's length has changed since the request was made, so the announced length cannot be sent.
    case fileChanged(path: String, expected: Int64, found: Int64)
    /// A stream, such as `the part photo`, ended before its given length in bytes.
    case streamTooShort(String, expected: Int64, found: Int64)
    /// A negative length was given for a stream, such as `the part photo`.
    case negativeLength(String, Int64)
    /// The body has to be sent again, but this stream has already been read.
    case streamUsed(String)
    /// The closure that creates this stream returned `nil`.
    case streamNotMade(String)
    /// A part's media type, as given, cannot be sent.
    case invalidMIMEType(String)
    /// The boundary, as given, is not allowed by [RFC 2046
    /// §5.1.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1).
    case invalidBoundary(String)
    /// The text of this part has characters that the form's string encoding does not support.
    case unencodableText(part: String, String.Encoding)
    /// The method, such as GET, does not send a body.
    case methodWithoutBody(String)
    /// The request has no ``BodySource`` to be written to a file.
    case noBodySource
}

extension RequestBodyError {
    /// Creates the error for a file that cannot be read, with the system's reason.
    init(_ error: any Error, path: String) {
        let reason = (error as? SystemError)?.reason ?? error.localizedDescription
        self = .unreadableFile(path: path, reason: reason)
    }
}

// MARK: - CustomStringConvertible

extension RequestBodyError: CustomStringConvertible {
    /// One sentence, with the invalid text or numbers.
    public var description: String {
        switch self {
        case .notAFileURL(let text):
            "\(Redaction.text(ofURL: text).debugDescription) is not the URL of a file."
        case .unreadableFile(let path, let reason):
            "\(path) cannot be read: \(reason)."
        case .fileInUse(let path):
            "\(path) is being written by another operation."
        case .fileChanged(let path, let expected, let found):
            "\(path) has \(found) bytes but had \(expected) when the request was made."
        case .streamTooShort(let part, let expected, let found):
            "The stream of \(part) ended after \(found) of \(expected) bytes."
        case .negativeLength(let part, let length):
            "The length of the stream of \(part) cannot be \(length)."
        case .streamUsed(let part):
            "The body must be sent again, but the stream of \(part) can be read only once."
        case .streamNotMade(let part):
            "The stream of \(part) could not be created."
        case .invalidMIMEType(let text):
            "\(text.debugDescription) is not a media type."
        case .invalidBoundary(let text):
            "\(text.debugDescription) cannot separate the parts of a form."
        case .unencodableText(let part, let encoding):
            "The text of \(part) has characters that the string encoding \(encoding) does not support."
        case .methodWithoutBody(let method):
            "A form needs a method that sends a body, which \(method) does not."
        case .noBodySource:
            "The request has no body source to write to a file."
        }
    }
}

// MARK: - LocalizedError, CustomNSError

extension RequestBodyError: LocalizedError, CustomNSError {
    /// AFNetworking's `AFURLRequestSerializationErrorDomain`.
    public static let errorDomain = RequestSerializationError.errorDomain

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// AFNetworking's text for the two file errors, `nil` for the rest.
    public var failureReason: String? {
        switch self {
        case .notAFileURL: "Expected URL to be a file URL"
        case .unreadableFile: "File URL not reachable."
        case .fileInUse, .fileChanged, .streamTooShort, .negativeLength, .streamUsed, .streamNotMade,
            .invalidMIMEType, .invalidBoundary, .unencodableText, .methodWithoutBody, .noBodySource:
            nil
        }
    }

    /// A raw value of `URLError.Code`: -1000 for a file's URL and for the method, -3003 for a file in use,
    /// -1021 for a changed file and for streams that end early or cannot be read, -1016 for text, -1 for the
    /// rest.
    public var errorCode: Int {
        switch self {
        case .notAFileURL, .unreadableFile, .methodWithoutBody: URLError.Code.badURL.rawValue
        case .fileInUse: URLError.Code.cannotWriteToFile.rawValue
        case .fileChanged, .streamTooShort, .streamUsed, .streamNotMade:
            URLError.Code.requestBodyStreamExhausted.rawValue
        case .unencodableText: URLError.Code.cannotDecodeContentData.rawValue
        case .negativeLength, .invalidMIMEType, .invalidBoundary, .noBodySource:
            URLError.Code.unknown.rawValue
        }
    }

    /// ``description`` under `NSLocalizedDescriptionKey`, and ``failureReason``, if any, under
    /// `NSLocalizedFailureReasonErrorKey`.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let failureReason { userInfo[NSLocalizedFailureReasonErrorKey] = failureReason }
        return userInfo
    }
}

// MARK: - ClassifiedError

extension RequestBodyError: ClassifiedError {
    package var traits: FailureTraits {
        switch self {
        case .fileInUse, .fileChanged: .temporary
        case .notAFileURL, .unreadableFile, .streamTooShort, .negativeLength, .streamUsed, .streamNotMade,
            .invalidMIMEType, .invalidBoundary, .unencodableText, .methodWithoutBody, .noBodySource:
            .mistake
        }
    }
}
