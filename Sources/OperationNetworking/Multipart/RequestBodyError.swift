public import Foundation
internal import OperationNetworkingSystem

/// Why the body of a request could not be put together, or could not be read while it was sent.
///
/// As `NSError` it has the domain of ``RequestSerializationError``, which is AFNetworking's, and a code of
/// Foundation's `URLError`.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RequestBodyError: Error, Hashable, Sendable {
    /// The URL of a file names something else; as text.
    case notAFileURL(String)
    /// The file is not there, not a regular file, or may not be read; the system's reason.
    case unreadableFile(path: String, reason: String)
    /// The file that the body was to replace is being written by an operation of this process, and stays.
    case fileInUse(path: String)
    /// The file has another length than when it was taken: what was promised to the server cannot be sent.
    case fileChanged(path: String, expected: Int64, found: Int64)
    /// A stream ended before the length that was given for it, in bytes; what it is called, such as
    /// `the part photo`.
    case streamTooShort(String, expected: Int64, found: Int64)
    /// A negative length was given for a stream; what it is called, such as `the part photo`.
    case negativeLength(String, Int64)
    /// The body has to be sent again, and a stream was read already; what it is called.
    case streamUsed(String)
    /// A closure that was to make a stream made none; what it is called.
    case streamNotMade(String)
    /// A part's media type cannot be sent; as given.
    case invalidMIMEType(String)
    /// A boundary of another kind than [RFC 2046
    /// §5.1.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1) allows; as given.
    case invalidBoundary(String)
    /// A field's text has characters that the form's string encoding does not; the name of the part.
    case unencodableText(part: String, String.Encoding)
    /// A method that sends no body, such as GET; as given.
    case methodWithoutBody(String)
    /// The request has no ``BodySource`` that could be written to a file.
    case noBodySource
}

extension RequestBodyError {
    /// The error of a file that cannot be read, with the system's reason.
    init(_ error: any Error, path: String) {
        let reason = (error as? SystemError)?.reason ?? error.localizedDescription
        self = .unreadableFile(path: path, reason: reason)
    }
}

// MARK: - CustomStringConvertible

extension RequestBodyError: CustomStringConvertible {
    /// One sentence, with the text or the numbers.
    public var description: String {
        switch self {
        case .notAFileURL(let text):
            "\(Redaction.text(ofURL: text).debugDescription) is not the URL of a file."
        case .unreadableFile(let path, let reason):
            "\(path) cannot be read: \(reason)."
        case .fileInUse(let path):
            "\(path) is being written by another operation."
        case .fileChanged(let path, let expected, let found):
            "\(path) has \(found) bytes and had \(expected) when the request was made."
        case .streamTooShort(let part, let expected, let found):
            "The stream of \(part) ended after \(found) of \(expected) bytes."
        case .negativeLength(let part, let length):
            "The length of the stream of \(part) cannot be \(length)."
        case .streamUsed(let part):
            "The body must be sent again, and the stream of \(part) can be read only once."
        case .streamNotMade(let part):
            "The stream of \(part) could not be made."
        case .invalidMIMEType(let text):
            "\(text.debugDescription) is not a media type."
        case .invalidBoundary(let text):
            "\(text.debugDescription) cannot separate the parts of a form."
        case .unencodableText(let part, let encoding):
            "The text of \(part) has characters that do not exist in the string encoding \(encoding)."
        case .methodWithoutBody(let method):
            "A form needs a method that sends a body, and \(method) does not."
        case .noBodySource:
            "The request has no body source that could be written to a file."
        }
    }
}

// MARK: - LocalizedError, CustomNSError

extension RequestBodyError: LocalizedError, CustomNSError {
    /// AFNetworking's `AFURLRequestSerializationErrorDomain`.
    public static let errorDomain = RequestSerializationError.errorDomain

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// AFNetworking's two sentences about files, `nil` for the rest.
    public var failureReason: String? {
        switch self {
        case .notAFileURL: "Expected URL to be a file URL"
        case .unreadableFile: "File URL not reachable."
        case .fileInUse, .fileChanged, .streamTooShort, .negativeLength, .streamUsed, .streamNotMade,
            .invalidMIMEType, .invalidBoundary, .unencodableText, .methodWithoutBody, .noBodySource:
            nil
        }
    }

    /// A number of `URLError.Code`: -1000 for what is wrong with a file's URL and for the method, -3003 for a
    /// file in use, -1021 for what ends early or was read, -1016 for text, -1 for the rest.
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

    /// The sentences, under `NSLocalizedDescriptionKey` and `NSLocalizedFailureReasonErrorKey`.
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
        case .fileInUse, .fileChanged: .passing
        case .notAFileURL, .unreadableFile, .streamTooShort, .negativeLength, .streamUsed, .streamNotMade,
            .invalidMIMEType, .invalidBoundary, .unencodableText, .methodWithoutBody, .noBodySource:
            .mistake
        }
    }
}
