public import Foundation
public import FoundationNetworking

/// The reason why a complete response is not the requested object.
///
/// As an `NSError`, it has AFNetworking's domain and codes, and the response and its body under
/// AFNetworking's keys.
public struct ResponseSerializationError: Error, Sendable {
    /// The reason of the error.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Reason: Hashable, Sendable {
        /// The status code is not acceptable.
        case unacceptableStatusCode(Int)
        /// The media type is not acceptable; `nil` if the response names none.
        case unacceptableContentType(String?)
        /// The body is not text in the character set that the response names.
        case undecodableText(charset: String)
        /// The body cannot be parsed in its format. The text is the parser's description.
        case malformedBody(Format, String)
        /// The body is well-formed but does not have the expected structure. The text says where and how it
        /// differs.
        case unexpectedStructure(type: String, String)
        /// The serializer does not have this setting. The values are the name of the setting and the type of
        /// the serializer. Thrown when it is set, not by a response.
        case settingNotSupported(String, serializer: String)
    }

    /// The format in which a body was parsed.
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
    /// The object made from the body of a rejected response, usually an API's description of the error. It
    /// is also the operation's `responseObject`.
    public internal(set) var responseObject: (any Sendable)?
    /// The error found before this one, such as that for the status if the body is malformed too. Otherwise
    /// the parser's error, if it threw one.
    public let underlyingError: (any Error)?
    /// Whether no response could have been valid.
    var isProgrammingError = false

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

    /// Whether this error, or its underlying error, concerns the media type. The body is not parsed then.
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
    /// A sentence with the status code or the media type. Text from the server is shortened.
    public var description: String {
        switch reason {
        case .unacceptableStatusCode(let code):
            "Request failed: \(HTTPURLResponse.localizedString(forStatusCode: code)) (\(code))"
        case .unacceptableContentType(let type):
            "Request failed: unacceptable content-type: \(type?.excerpt() ?? "none")"
        case .undecodableText(let charset):
            "The body (\(data?.count ?? 0) bytes) is not text in the character set \(charset.excerpt())."
        case .malformedBody(let format, let parserSentence):
            // Foundation quotes a number in full, even one with a million digits.
            "The body (\(data?.count ?? 0) bytes) is not \(format.rawValue): \(parserSentence.excerpt(200))"
        case .unexpectedStructure(let type, let difference):
            // The longest place has 16 keys.
            "The body (\(data?.count ?? 0) bytes) cannot be decoded as \(type): \(difference.excerpt(1200))"
        case .settingNotSupported(let setting, let serializer):
            "The response serializer \(serializer) does not support setting \(setting)."
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

    /// Equal to ``description``.
    public var errorDescription: String? { description }

    /// -1011 for the status, -1016 for the body, and -1 for a setting. These are values of `URLError.Code`.
    public var errorCode: Int {
        switch reason {
        case .unacceptableStatusCode: URLError.Code.badServerResponse.rawValue
        case .unacceptableContentType, .undecodableText, .malformedBody, .unexpectedStructure:
            URLError.Code.cannotDecodeContentData.rawValue
        case .settingNotSupported: URLError.Code.unknown.rawValue
        }
    }

    /// The description, the URL, the response, the body and the underlying error, if they exist.
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
            if isProgrammingError { return .mistake }
        }
        // A malformed body may hide the status that explains it.
        return (underlyingError as? ResponseSerializationError)?.traits ?? .permanent
    }
}
