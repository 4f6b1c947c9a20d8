public import Foundation
internal import FoundationNetworking

/// Why a request could not be made from what was given.
///
/// As `NSError` it has AFNetworking's domain, a code of Foundation's `URLError`, and a sentence.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RequestSerializationError: Error, Hashable, Sendable {
    /// The method is not a token, so it would not end where the request line expects it to; as given.
    case invalidMethod(String)
    /// The name of a header field is not a token; as given.
    case invalidFieldName(String)
    /// The value of the field with this name holds a line end, a NUL or another control character. The value
    /// itself is not kept: it may be a secret.
    case invalidFieldValue(name: String)
    /// The URL with its query is not one; as text.
    case invalidURL(String)
    /// The parameters are not of a kind that this serializer can encode; the name of their type.
    case unsupportedParameters(type: String)
    /// The parameters of a query or a form hold something that has no text; where, such as `user[photo]`,
    /// empty for the parameters themselves, and what.
    case invalidParameter(at: String, found: String)
    /// The parameters hold something that JSON cannot; where, such as `users[3].born`, empty for the
    /// parameters themselves, and what.
    case invalidJSON(at: String, found: String)
    /// The same for a property list.
    case invalidPropertyList(at: String, found: String)
    /// The parameters hold one another more than this many levels deep, or in a circle.
    case parametersTooDeep(limit: Int)
    /// The encoded parameters have characters that the serializer's string encoding does not.
    case unencodableBody(String.Encoding)
    /// The serializer has no fields of its own that could be changed; the name of its type.
    case fieldsNotSupported(serializer: String)
    /// The serializer has no such setting: its name, and the type of the serializer.
    case settingNotSupported(String, serializer: String)
}

extension RequestSerializationError {
    /// Refuses a field that would not arrive as one field with that value.
    static func check(name: String, value: String) throws(RequestSerializationError) {
        guard name.isHTTPToken else { throw .invalidFieldName(name) }
        guard value.isHTTPFieldValue else { throw .invalidFieldValue(name: name) }
    }
}

// MARK: - CustomStringConvertible

extension RequestSerializationError: CustomStringConvertible {
    /// One sentence, with the text that was refused.
    public var description: String {
        switch self {
        case .invalidMethod(let method):
            "\(method.debugDescription) is not a method: it has to be one word of letters, digits and -."
        case .invalidFieldName(let name):
            "\(name.debugDescription) is not a header field name."
        case .invalidFieldValue(let name):
            "The value of the header field \(name) holds a line end or another control character."
        case .invalidURL(let text):
            "\(Redaction.text(ofURL: text).debugDescription) is not a URL."
        case .unsupportedParameters(let type):
            "Parameters of type \(type) cannot be encoded as a query or a form; they have to be a dictionary."
        case .invalidParameter(let name, let found):
            "The parameters of a query or a form hold \(found)\(name.isEmpty ? "" : " at \(name)"), which has no text."
        case .invalidJSON(let path, let found):
            "The parameters are not valid JSON: \(found)\(path.isEmpty ? "" : " at \(path)")."
        case .invalidPropertyList(let path, let found):
            "The parameters are not a property list: \(found)\(path.isEmpty ? "" : " at \(path)")."
        case .parametersTooDeep(let limit):
            "The parameters are nested more than \(limit) levels deep."
        case .unencodableBody(let encoding):
            "The parameters have characters that do not exist in the string encoding \(encoding)."
        case .fieldsNotSupported(let serializer):
            "The request serializer \(serializer) has no header fields that can be changed."
        case .settingNotSupported(let setting, let serializer):
            "The request serializer \(serializer) has no \(setting) that can be changed."
        }
    }
}

// MARK: - LocalizedError, CustomNSError

extension RequestSerializationError: LocalizedError, CustomNSError {
    /// AFNetworking's `AFURLRequestSerializationErrorDomain`.
    public static let errorDomain = "com.alamofire.error.serialization.request"

    /// The key AFNetworking declared as `AFNetworkingOperationFailingURLRequestErrorKey`. It never set it,
    /// and neither does this package: there is no request yet when one of these errors is thrown.
    public static let failingRequestKey = "com.alamofire.serialization.request.error.response"

    /// AFNetworking's sentence for parameters that are not valid JSON, and one like it for property lists.
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

    /// A number of `URLError.Code`: -1000 for what is wrong with the request line, -1016 for parameters, -1
    /// for fields.
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

    /// The sentence, under `NSLocalizedDescriptionKey`, and ``failureReason`` where there is one, under
    /// `NSLocalizedFailureReasonErrorKey`.
    public var errorUserInfo: [String: Any] {
        var userInfo = [NSLocalizedDescriptionKey: description]
        userInfo[NSLocalizedFailureReasonErrorKey] = failureReason
        return userInfo
    }
}
