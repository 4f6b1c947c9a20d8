public import Foundation
public import FoundationNetworking

/// A serializer with its own format for bodies that otherwise behaves like ``HTTPRequestSerializer``.
///
/// | Method                                          | Parameters                                        |
/// |-------------------------------------------------|---------------------------------------------------|
/// | those of ``httpMethodsEncodingParametersInURI`` | become a query, as written by ``base``            |
/// | any other                                       | become the body, in the format of this serializer |
///
/// Without parameters the request keeps its body. All settings are those of ``base``, and can be read and set
/// directly:
///
/// ```swift
/// var serializer = JSONRequestSerializer()
/// try serializer.setValue("secret", forHTTPHeaderField: "X-Key")
/// serializer.timeoutInterval = 5
/// ```
///
/// To implement your own format, provide ``base``, ``contentType`` and ``body(of:)``.
public protocol BodyRequestSerializer: RequestSerializer {
    /// The serializer that holds the settings and fields, and serializes everything but bodies.
    var base: HTTPRequestSerializer { get set }

    /// The `Content-Type` of bodies in this format, unless the request already has one.
    var contentType: String { get }

    /// Returns the parameters in this format.
    ///
    /// - Throws: any error; it is passed to the caller.
    func body(of parameters: Any) throws -> Data
}

extension BodyRequestSerializer {
    /// Returns a request with the settings of ``base``.
    public func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest {
        try base.emptyRequest(method: method, url: url, headers: headers)
    }

    /// Returns the request with its parameters as a query or body, and with the fields of ``base`` that it
    /// does not have.
    public func request(
        bySerializing request: URLRequest,
        with parameters: Any?
    ) throws -> URLRequest {
        if base.encodesParametersInURI(of: request) {
            return try base.request(bySerializing: request, with: parameters)
        }
        var serialized = try base.addingFields(to: request)
        guard let parameters else { return serialized }
        if serialized.value(forHTTPHeaderField: "Content-Type") == nil {
            try RequestSerializationError.check(name: "Content-Type", value: contentType)
            serialized.setValue(contentType, forHTTPHeaderField: "Content-Type")
        }
        serialized.httpBody = try body(of: parameters)
        return serialized
    }
}

// MARK: - Settings

extension BodyRequestSerializer {
    /// The methods whose parameters become a query: see
    /// ``HTTPRequestSerializer/httpMethodsEncodingParametersInURI``.
    public var httpMethodsEncodingParametersInURI: Set<String> {
        get { base.httpMethodsEncodingParametersInURI }
        set { base.httpMethodsEncodingParametersInURI = newValue }
    }

    /// The character encoding of form text: see ``HTTPRequestSerializer/stringEncoding``. Does not affect
    /// other bodies.
    public var stringEncoding: String.Encoding {
        get { base.stringEncoding }
        set { base.stringEncoding = newValue }
    }

    /// The style of arrays in queries and forms: see ``HTTPRequestSerializer/arrayStyle``.
    public var arrayStyle: QueryString.ArrayStyle {
        get { base.arrayStyle }
        set { base.arrayStyle = newValue }
    }

    /// The serialization of queries: see ``HTTPRequestSerializer/queryStringSerialization``. Does not affect
    /// bodies.
    public var queryStringSerialization: HTTPRequestSerializer.QueryStringSerialization? {
        get { base.queryStringSerialization }
        set { base.queryStringSerialization = newValue }
    }

    /// The time limit, in seconds without progress: see ``HTTPRequestSerializer/timeoutInterval``.
    public var timeoutInterval: TimeInterval? {
        get { base.timeoutInterval }
        set { base.timeoutInterval = newValue }
    }

    /// Sets ``timeoutInterval``.
    public mutating func setTimeoutInterval(_ seconds: TimeInterval?) {
        base.timeoutInterval = seconds
    }

    /// Sets ``cachePolicy``.
    public mutating func setCachePolicy(_ policy: URLRequest.CachePolicy?) {
        base.cachePolicy = policy
    }

    /// Sets ``httpShouldHandleCookies``.
    public mutating func setHTTPShouldHandleCookies(_ handlesCookies: Bool?) {
        base.httpShouldHandleCookies = handlesCookies
    }

    /// As in ``HTTPRequestSerializer``; `nil` leaves Foundation's.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { base.cachePolicy }
        set { base.cachePolicy = newValue }
    }

    /// As in ``HTTPRequestSerializer``; `nil` leaves Foundation's.
    public var httpShouldHandleCookies: Bool? {
        get { base.httpShouldHandleCookies }
        set { base.httpShouldHandleCookies = newValue }
    }

    /// The fields that are added to requests that do not have them.
    public var httpRequestHeaders: [String: String] { base.httpRequestHeaders }

    /// Returns the value of a field, by case-insensitive name; `nil` if it is not set.
    public func value(forHTTPHeaderField name: String) -> String? {
        base.value(forHTTPHeaderField: name)
    }

    /// Sets a field, by case-insensitive name; `nil` removes it.
    ///
    /// - Throws: ``RequestSerializationError/invalidFieldName(_:)`` or
    ///   ``RequestSerializationError/invalidFieldValue(name:)``; the serializer is then unchanged.
    @_disfavoredOverload
    public mutating func setValue(
        _ value: String?,
        forHTTPHeaderField name: String
    ) throws(RequestSerializationError) {
        try base.setValue(value, forHTTPHeaderField: name)
    }

    /// Sets `Authorization` to the Basic scheme, like ``HTTPRequestSerializer``.
    public mutating func setAuthorization(username: String, password: String) {
        base.setAuthorization(username: username, password: password)
    }
}
