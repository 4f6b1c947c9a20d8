public import Foundation
public import FoundationNetworking

/// Turns what a caller has (method, URL, parameters, fields) into the request that is sent.
///
/// A serializer is a value and keeps nothing between calls, so one can serve every operation of a manager at
/// once. It runs on the thread of the caller that asks for the request.
public protocol RequestSerializer: Sendable {
    /// The request with `parameters` put where this kind of serializer puts them.
    ///
    /// Fields that the request already has stay as they are; the serializer's own are added for the others.
    ///
    /// - Parameters:
    ///   - request: with its method, URL and fields.
    ///   - parameters: a dictionary for most serializers, an array for some; `nil` when there are none.
    /// - Returns: a request that is ready to be sent.
    /// - Throws: anything; the caller gets what was thrown. Ours throw ``RequestSerializationError``.
    func request(bySerializing request: URLRequest, with parameters: Any?) throws -> URLRequest

    /// A request made from its parts.
    ///
    /// - Parameters:
    ///   - method: sent as given, in capitals if it is registered at IANA.
    ///   - url: absolute.
    ///   - parameters: as for ``request(bySerializing:with:)``.
    ///   - headers: fields of this one request; they win over those of the serializer.
    /// - Returns: a request that is ready to be sent.
    /// - Throws: ``RequestSerializationError`` for a method or a field that cannot be sent, and whatever
    ///   ``request(bySerializing:with:)`` throws.
    func request(
        method: String,
        url: URL,
        parameters: Any?,
        headers: [String: String]
    ) throws -> URLRequest

    // MARK: Fields of every request

    /// The fields that are added to a request which does not have them; none by default.
    var httpRequestHeaders: [String: String] { get }

    /// The value of a field whatever the case of its name, `nil` when it is not set.
    func value(forHTTPHeaderField name: String) -> String?

    /// Sets a field of every request whatever the case of its name; `nil` removes it.
    ///
    /// - Throws: ``RequestSerializationError/invalidFieldName(_:)`` or
    ///   ``RequestSerializationError/invalidFieldValue(name:)``; by default
    ///   ``RequestSerializationError/fieldsNotSupported(serializer:)``. The serializer is then as it was.
    mutating func setValue(
        _ value: String?,
        forHTTPHeaderField name: String
    ) throws(RequestSerializationError)

    /// Sets `Authorization` to the Basic scheme of [RFC 7617](https://www.rfc-editor.org/rfc/rfc7617), in
    /// UTF-8.
    ///
    /// - Throws: what ``setValue(_:forHTTPHeaderField:)`` throws.
    mutating func setAuthorization(username: String, password: String) throws(RequestSerializationError)

    /// Removes `Authorization`.
    ///
    /// - Throws: what ``setValue(_:forHTTPHeaderField:)`` throws.
    mutating func clearAuthorization() throws(RequestSerializationError)

    // MARK: Settings of every request

    /// Sets the `timeoutInterval` of requests that are made from their parts: seconds without a byte in
    /// either direction. `nil`: Foundation's 60.
    ///
    /// - Throws: ``RequestSerializationError/settingNotSupported(_:serializer:)`` by default.
    mutating func setTimeoutInterval(_ seconds: TimeInterval?) throws(RequestSerializationError)

    /// Sets the `cachePolicy` of requests that are made from their parts. `nil`: Foundation's, by the rules
    /// of HTTP.
    ///
    /// - Throws: as ``setTimeoutInterval(_:)``.
    mutating func setCachePolicy(_ policy: URLRequest.CachePolicy?) throws(RequestSerializationError)

    /// Sets whether requests that are made from their parts send cookies, and keep those of their responses.
    /// `nil`: Foundation's `true`.
    ///
    /// - Throws: as ``setTimeoutInterval(_:)``.
    mutating func setHTTPShouldHandleCookies(_ handlesCookies: Bool?) throws(RequestSerializationError)
}

extension RequestSerializer {
    /// Makes a plain request of the method, the URL and the headers, and hands it to
    /// ``request(bySerializing:with:)``.
    public func request(
        method: String,
        url: URL,
        parameters: Any?,
        headers: [String: String]
    ) throws -> URLRequest {
        let request = try URLRequest(url: url, method: method, headers: headers)
        return try self.request(bySerializing: request, with: parameters)
    }

    /// The serializer's own ``request(method:url:parameters:headers:)``, without fields of this one request.
    public func request(method: String, url: URL, parameters: Any?) throws -> URLRequest {
        try request(method: method, url: url, parameters: parameters, headers: [:])
    }
}

// MARK: - Fields of a serializer without any

extension RequestSerializer {
    /// No field.
    public var httpRequestHeaders: [String: String] { [:] }

    /// The one of ``httpRequestHeaders``.
    public func value(forHTTPHeaderField name: String) -> String? {
        httpRequestHeaders.first { $0.key.isEqualIgnoringASCIICase(to: name) }?.value
    }

    /// - Throws: ``RequestSerializationError/fieldsNotSupported(serializer:)``.
    public mutating func setValue(
        _ value: String?,
        forHTTPHeaderField name: String
    ) throws(RequestSerializationError) {
        throw .fieldsNotSupported(serializer: "\(Self.self)")
    }

    /// Sets the field `Authorization`.
    ///
    /// - Throws: what ``RequestSerializer/setValue(_:forHTTPHeaderField:)`` throws.
    public mutating func setAuthorization(
        username: String,
        password: String
    ) throws(RequestSerializationError) {
        try setValue(basicAuthorization(username, password), forHTTPHeaderField: "Authorization")
    }

    /// Sets `Authorization` to `Token token="..."`, as AFNetworking 2 had it.
    ///
    /// - Throws: what ``RequestSerializer/setValue(_:forHTTPHeaderField:)`` throws:
    ///   ``RequestSerializationError/invalidFieldValue(name:)`` for a token with a control character.
    @available(*, deprecated, message: "No standard has this scheme; set the Authorization field instead.")
    public mutating func setAuthorization(token: String) throws(RequestSerializationError) {
        var quoted = ""
        for scalar in token.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        try setValue("Token token=\"\(quoted)\"", forHTTPHeaderField: "Authorization")
    }

    /// Removes the field `Authorization`.
    ///
    /// - Throws: what ``RequestSerializer/setValue(_:forHTTPHeaderField:)`` throws.
    public mutating func clearAuthorization() throws(RequestSerializationError) {
        try setValue(nil, forHTTPHeaderField: "Authorization")
    }

    /// - Throws: ``RequestSerializationError/settingNotSupported(_:serializer:)``.
    public mutating func setTimeoutInterval(_ seconds: TimeInterval?) throws(RequestSerializationError) {
        throw .settingNotSupported("timeoutInterval", serializer: "\(Self.self)")
    }

    /// - Throws: ``RequestSerializationError/settingNotSupported(_:serializer:)``.
    public mutating func setCachePolicy(
        _ policy: URLRequest.CachePolicy?
    ) throws(RequestSerializationError) {
        throw .settingNotSupported("cachePolicy", serializer: "\(Self.self)")
    }

    /// - Throws: ``RequestSerializationError/settingNotSupported(_:serializer:)``.
    public mutating func setHTTPShouldHandleCookies(
        _ handlesCookies: Bool?
    ) throws(RequestSerializationError) {
        throw .settingNotSupported("httpShouldHandleCookies", serializer: "\(Self.self)")
    }

    func basicAuthorization(_ username: String, _ password: String) -> String {
        "Basic " + Data("\(username):\(password)".utf8).base64EncodedString()
    }
}

extension URLRequest {
    /// A request whose method and fields are known to be sendable.
    init(url: URL, method: String, headers: [String: String]) throws(RequestSerializationError) {
        guard method.isHTTPToken else { throw .invalidMethod(method) }
        self.init(url: url)
        httpMethod = method
        // In an order, since of two names that differ in case only the last one counts.
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            try RequestSerializationError.check(name: name, value: value)
            setValue(value, forHTTPHeaderField: name)
        }
    }
}
