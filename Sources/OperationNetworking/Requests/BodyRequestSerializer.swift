public import Foundation
public import FoundationNetworking

/// A serializer that has its own format for bodies, and does everything else as ``HTTPRequestSerializer``
/// does.
///
/// | Method                                          | Parameters                                             |
/// |-------------------------------------------------|--------------------------------------------------------|
/// | those of ``httpMethodsEncodingParametersInURI`` | are a query, as ``base`` writes it                     |
/// | any other                                       | are the body, in the format of this serializer         |
///
/// Without parameters the request keeps the body it has. All settings are those of ``base``, and can be read
/// and set here as well:
///
/// ```swift
/// var serializer = JSONRequestSerializer()
/// try serializer.setValue("secret", forHTTPHeaderField: "X-Key")
/// serializer.timeoutInterval = 5
/// ```
///
/// A format of your own needs a ``base``, a ``contentType`` and ``body(of:)``.
public protocol BodyRequestSerializer: RequestSerializer {
    /// Holds the settings and the fields, and serializes what is no body.
    var base: HTTPRequestSerializer { get set }

    /// The `Content-Type` of a body that this serializer made, unless the request has one already.
    var contentType: String { get }

    /// The parameters in this format.
    ///
    /// - Throws: anything; the caller of the request gets what was thrown.
    func body(of parameters: Any) throws -> Data
}

extension BodyRequestSerializer {
    /// A request with the settings of ``base``.
    public func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest {
        try base.emptyRequest(method: method, url: url, headers: headers)
    }

    /// The request with its parameters as a query or as a body, and the fields of ``base`` where it has none.
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
    /// The methods whose parameters go into the URL, in upper case, as in ``HTTPRequestSerializer``.
    public var httpMethodsEncodingParametersInURI: Set<String> {
        get { base.httpMethodsEncodingParametersInURI }
        set { base.httpMethodsEncodingParametersInURI = newValue }
    }

    /// The character encoding of the text in forms, as in ``HTTPRequestSerializer``; no other body has one.
    public var stringEncoding: String.Encoding {
        get { base.stringEncoding }
        set { base.stringEncoding = newValue }
    }

    /// The style of arrays in queries and forms, as in ``HTTPRequestSerializer``.
    public var arrayStyle: QueryString.ArrayStyle {
        get { base.arrayStyle }
        set { base.arrayStyle = newValue }
    }

    /// The serialization of queries, as in ``HTTPRequestSerializer``; not of bodies.
    public var queryStringSerialization: HTTPRequestSerializer.QueryStringSerialization? {
        get { base.queryStringSerialization }
        set { base.queryStringSerialization = newValue }
    }

    /// The time limit in seconds without progress, as in ``HTTPRequestSerializer``; `nil` leaves
    /// Foundation's 60.
    public var timeoutInterval: TimeInterval? {
        get { base.timeoutInterval }
        set { base.timeoutInterval = newValue }
    }

    /// As ``timeoutInterval``.
    public mutating func setTimeoutInterval(_ seconds: TimeInterval?) {
        base.timeoutInterval = seconds
    }

    /// As ``cachePolicy``.
    public mutating func setCachePolicy(_ policy: URLRequest.CachePolicy?) {
        base.cachePolicy = policy
    }

    /// As ``httpShouldHandleCookies``.
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

    /// The fields that are added to a request which does not have them.
    public var httpRequestHeaders: [String: String] { base.httpRequestHeaders }

    /// The value of a field whatever the case of its name, `nil` when it is not set.
    public func value(forHTTPHeaderField name: String) -> String? {
        base.value(forHTTPHeaderField: name)
    }

    /// Sets a field whatever the case of its name; `nil` removes it.
    ///
    /// - Throws: ``RequestSerializationError/invalidFieldName(_:)`` or
    ///   ``RequestSerializationError/invalidFieldValue(name:)``; the serializer is then as it was.
    @_disfavoredOverload
    public mutating func setValue(
        _ value: String?,
        forHTTPHeaderField name: String
    ) throws(RequestSerializationError) {
        try base.setValue(value, forHTTPHeaderField: name)
    }

    /// Sets `Authorization` to the Basic scheme, as ``HTTPRequestSerializer`` does.
    public mutating func setAuthorization(username: String, password: String) {
        base.setAuthorization(username: username, password: password)
    }
}
