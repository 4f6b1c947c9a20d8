public import Foundation
public import FoundationNetworking

/// Why a response that arrived whole is not the object that was asked for.
///
/// As `NSError` it has AFNetworking's domain and codes, and the response and its body under AFNetworking's
/// keys.
public struct ResponseSerializationError: Error, Sendable {
    /// The reason of the error.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Reason: Hashable, Sendable {
        /// The status code is not among the acceptable ones.
        case unacceptableStatusCode(Int)
        /// The media type is not among the acceptable ones; `nil` when the response names none.
        case unacceptableContentType(String?)
        /// The body is not text in the character set that the response names.
        case undecodableText(charset: String)
        /// The body is not what it has to be to be parsed; what its parser says about it.
        case malformedBody(Format, String)
        /// The body is well formed, and does not have the structure that was asked for; where and how it
        /// differs.
        case unexpectedStructure(type: String, String)
        /// The serializer has no such setting: its name, and the type of the serializer. Thrown where it is
        /// set, by no response.
        case settingNotSupported(String, serializer: String)
    }

    /// A format that a body was parsed as.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Format: String, Hashable, Sendable {
        /// [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259).
        case json = "JSON"
        /// [XML 1.0](https://www.w3.org/TR/xml/).
        case xml = "XML"
        /// Apple's property list, as XML or binary.
        case propertyList = "a property list"
        /// A raster image.
        case image = "an image"
    }

    /// The reason of the error.
    public let reason: Reason
    /// The head of the response.
    public let response: HTTPURLResponse?
    /// The body.
    public let data: Data?
    /// The object that was made of the body all the same: an API's description of the error, mostly. The
    /// operation shows it as its `responseObject`.
    public internal(set) var responseObject: (any Sendable)?
    /// The error that was found before this one, such as the status when the body is malformed too; else what
    /// the parser threw, if one did.
    public let underlyingError: (any Error)?
    /// Whether no response at all would have been right.
    var isCallersMistake = false

    init(
        _ reason: Reason,
        response: ReceivedResponse?,
        data: Data?,
        responseObject: (any Sendable)? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.reason = reason
        self.response = response?.value
        self.data = data
        self.responseObject = responseObject
        self.underlyingError = underlyingError
    }

    /// Whether this error, or one under it, is about what the body is rather than about the status: then
    /// there is nothing to parse.
    var concernsContentType: Bool {
        switch reason {
        case .unacceptableContentType: true
        case .unacceptableStatusCode, .undecodableText, .malformedBody, .unexpectedStructure,
            .settingNotSupported:
            (underlyingError as? ResponseSerializationError)?.concernsContentType ?? false
        }
    }
}

// MARK: - CustomStringConvertible

extension ResponseSerializationError: CustomStringConvertible {
    /// One sentence, with the status code or the media type. The server's words are cut off in it.
    public var description: String {
        switch reason {
        case .unacceptableStatusCode(let code):
            "Request failed: \(HTTPURLResponse.localizedString(forStatusCode: code)) (\(code))"
        case .unacceptableContentType(let type):
            "Request failed: unacceptable content-type: \(type?.excerpt() ?? "none")"
        case .undecodableText(let charset):
            "The body (\(data?.count ?? 0) bytes) is not text in the character set \(charset.excerpt())."
        case .malformedBody(let format, let parserSentence):
            // Foundation quotes a whole number, of a million digits too.
            "The body (\(data?.count ?? 0) bytes) is not \(format.rawValue): \(parserSentence.excerpt(200))"
        case .unexpectedStructure(let type, let difference):
            // The longest place that is told has 16 keys.
            "The body (\(data?.count ?? 0) bytes) is no \(type): \(difference.excerpt(1200))"
        case .settingNotSupported(let setting, let serializer):
            "The response serializer \(serializer) has no \(setting) that can be changed."
        }
    }
}

// MARK: - LocalizedError, CustomNSError

extension ResponseSerializationError: LocalizedError, CustomNSError {
    /// AFNetworking's `AFURLResponseSerializationErrorDomain`.
    public static let errorDomain = "com.alamofire.error.serialization.response"

    /// The key of the `HTTPURLResponse` in the `userInfo` of the `NSError`:
    /// `AFNetworkingOperationFailingURLResponseErrorKey`.
    public static let responseKey = "com.alamofire.serialization.response.error.response"

    /// The key of the body, a `Data`, in the `userInfo` of the `NSError`:
    /// `AFNetworkingOperationFailingURLResponseDataErrorKey`.
    public static let dataKey = "com.alamofire.serialization.response.error.data"

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// -1011 for the status, -1016 for the body, -1 for a setting: numbers of `URLError.Code`.
    public var errorCode: Int {
        switch reason {
        case .unacceptableStatusCode: URLError.Code.badServerResponse.rawValue
        case .unacceptableContentType, .undecodableText, .malformedBody, .unexpectedStructure:
            URLError.Code.cannotDecodeContentData.rawValue
        case .settingNotSupported: URLError.Code.unknown.rawValue
        }
    }

    /// The sentence, the URL, the response, the body and the underlying error, as far as there are any.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let url = response?.url { userInfo[NSURLErrorFailingURLErrorKey] = url }
        if let response { userInfo[ResponseSerializationError.responseKey] = response }
        if let data { userInfo[ResponseSerializationError.dataKey] = data }
        if let underlyingError { userInfo[NSUnderlyingErrorKey] = underlyingError }
        return userInfo
    }
}

// MARK: - ClassifiedError

extension ResponseSerializationError: ClassifiedError {
    package var traits: FailureTraits {
        switch reason {
        case .unacceptableStatusCode(let status): return .status(status)
        case .settingNotSupported: return .mistake
        case .unacceptableContentType, .undecodableText, .malformedBody, .unexpectedStructure:
            if isCallersMistake { return .mistake }
        }
        // A body that is not what it should be may hide the status that explains it.
        return (underlyingError as? ResponseSerializationError)?.traits ?? .lasting
    }
}
