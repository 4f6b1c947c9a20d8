public import Foundation
internal import FoundationNetworking

/// Why a request could not be created.
///
/// As `NSError` it has AFNetworking's domain, a code of `URLError`, and a localized description.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RequestSerializationError: Error, Hashable, Sendable {
    /// The method, as given, is not a token.
    case invalidMethod(String)
    /// The header field name, as given, is not a token.
    case invalidFieldName(String)
    /// The value of the field with this name contains a line end, a NUL or another control character. The
    /// value itself is not included, because it may be a secret.
    case invalidFieldValue(name: String)
    /// The URL with its query, as text, is not a valid URL.
    case invalidURL(String)
    /// The serializer cannot encode parameters of this type.
    case unsupportedParameters(type: String)
    /// The parameters of a query or form contain a value without a text representation. `at` is its path,
    /// such as `user[photo]`, empty for the parameters themselves.
    case invalidParameter(at: String, found: String)
    /// The parameters contain a value that JSON cannot represent. `at` is its path, such as `users[3].born`,
    /// empty for the parameters themselves.
    case invalidJSON(at: String, found: String)
    /// The same for a property list.
    case invalidPropertyList(at: String, found: String)
    /// The parameters are nested more than this many levels deep, or contain themselves.
    case parametersTooDeep(limit: Int)
    /// The encoded parameters have characters that the serializer's string encoding does not support.
    case unencodableBody(String.Encoding)
    /// The serializer, with this type name, has no fields that can be changed.
    case fieldsNotSupported(serializer: String)
    /// The serializer, with this type name, does not have this setting.
    case settingNotSupported(String, serializer: String)
}

extension RequestSerializationError {
    /// Throws if the field would not be received as one field with that value.
    static func check(name: String, value: String) throws(RequestSerializationError) {
        guard name.isHTTPToken else { throw .invalidFieldName(name) }
        guard value.isHTTPFieldValue else { throw .invalidFieldValue(name: name) }
    }
}

// MARK: - CustomStringConvertible

extension RequestSerializationError: CustomStringConvertible {
    /// One sentence, with the rejected text.
    public var description: String {
        switch self {
        case .invalidMethod(let method):
            "\(method.debugDescription) is not a method: it must be one word of letters, digits and -."
        case .invalidFieldName(let name):
            "\(name.debugDescription) is not a header field name."
        case .invalidFieldValue(let name):
            "The value of the header field \(name) contains a line end or another control character."
        case .invalidURL(let text):
            "\(Redaction.text(ofURL: text).debugDescription) is not a URL."
        case .unsupportedParameters(let type):
            "Parameters of type \(type) cannot be encoded as a query or form; they must be a dictionary."
        case .invalidParameter(let name, let found):
            "The parameters of a query or form contain \(found)\(name.isEmpty ? "" : " at \(name)"), which has no text representation."
        case .invalidJSON(let path, let found):
            "The parameters are not valid JSON: \(found)\(path.isEmpty ? "" : " at \(path)")."
        case .invalidPropertyList(let path, let found):
            "The parameters are not a property list: \(found)\(path.isEmpty ? "" : " at \(path)")."
        case .parametersTooDeep(let limit):
            "The parameters are nested more than \(limit) levels deep."
        case .unencodableBody(let encoding):
            "The parameters have characters that the string encoding \(encoding) does not support."
        case .fieldsNotSupported(let serializer):
            "The request serializer \(serializer) does not support setting header fields."
        case .settingNotSupported(let setting, let serializer):
            "The request serializer \(serializer) does not support setting \(setting)."
        }
    }
}

// MARK: - LocalizedError, CustomNSError

extension RequestSerializationError: LocalizedError, CustomNSError {
    /// AFNetworking's `AFURLRequestSerializationErrorDomain`.
    public static let errorDomain = "com.alamofire.error.serialization.request"

    /// The key that AFNetworking declared as `AFNetworkingOperationFailingURLRequestErrorKey`. Neither
    /// AFNetworking nor this package sets it: when these errors are thrown there is no request yet.
    public static let failingRequestKey = "com.alamofire.serialization.request.error.response"

    /// AFNetworking's text for parameters that are not valid JSON, and a similar one for property lists.
    public var failureReason: String? {
        switch self {
        case .invalidJSON: "The `parameters` argument is not valid JSON."
        case .invalidPropertyList: "The `parameters` argument is not a valid property list."
        case .invalidMethod, .invalidFieldName, .invalidFieldValue, .invalidURL, .unsupportedParameters,
            .invalidParameter, .parametersTooDeep, .unencodableBody, .fieldsNotSupported,
            .settingNotSupported:
            nil
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// A raw value of `URLError.Code`: -1000 for the request line, -1016 for parameters, -1 for fields.
    public var errorCode: Int {
        switch self {
        case .invalidMethod, .invalidURL: URLError.Code.badURL.rawValue
        case .unsupportedParameters, .invalidParameter, .invalidJSON, .invalidPropertyList,
            .parametersTooDeep, .unencodableBody:
            URLError.Code.cannotDecodeContentData.rawValue
        case .invalidFieldName, .invalidFieldValue, .fieldsNotSupported, .settingNotSupported:
            URLError.Code.unknown.rawValue
        }
    }

    /// ``description`` under `NSLocalizedDescriptionKey`, and ``failureReason``, if any, under
    /// `NSLocalizedFailureReasonErrorKey`.
    public var errorUserInfo: [String: Any] {
        var userInfo = [NSLocalizedDescriptionKey: description]
        userInfo[NSLocalizedFailureReasonErrorKey] = failureReason
        return userInfo
    }
}
