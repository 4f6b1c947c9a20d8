public import Foundation
public import FoundationNetworking

/// Turns what a caller has (method, URL, parameters, fields) into the request that is sent.
///
/// A serializer is a value and keeps nothing between calls, so one can serve every operation of a manager at
/// once. It runs on the thread of the caller that asks for the request.
public protocol RequestSerializer: Sendable {
    /// The request with `parameters` put where this kind of serializer puts them. Every request of a verb comes
    /// through here, and is sent as it is returned, without secret fields that are for another origin: this is the
    /// place to sign it, once the parameters are in.
    ///
    /// Fields that the request already has stay as they are; the serializer's own are added for the others.
    /// Without parameters the request keeps the body it has: a form or a file comes with its body, its type and
    /// its length.
    ///
    /// - Parameters:
    ///   - request: with its method, URL and fields.
    ///   - parameters: a dictionary for most serializers, an array for some; `nil` when there are none.
    /// - Returns: a request that is ready to be sent.
    /// - Throws: anything; the caller gets what was thrown. Ours throw ``RequestSerializationError``.
    func request(bySerializing request: URLRequest, with parameters: Any?) throws -> URLRequest

    /// A request made from its parts, before it gets parameters and the fields of the serializer. By default a
    /// plain one; a serializer with settings of its own, such as a time limit, sets them here.
    ///
    /// - Parameters:
    ///   - method: sent as given, in capitals if it is registered at IANA.
    ///   - url: absolute.
    ///   - headers: fields of this one request; they win over those of the serializer.
    /// - Returns: a request without a body.
    /// - Throws: ``RequestSerializationError`` for a method or a field that cannot be sent.
    func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest

    // MARK: Fields of every request

    /// The fields that are added to a request which does not have them; none by default.
    var httpRequestHeaders: [String: String] { get }

    /// The value of a field whatever the case of its name, `nil` when it is not set.
    func value(forHTTPHeaderField name: String) -> String?

    /// Sets a field of every request whatever the case of its name; `nil` removes it. With a literal `nil` it
    /// does not throw: there is nothing to refuse.
    ///
    /// - Throws: ``RequestSerializationError/invalidFieldName(_:)`` or
    ///   ``RequestSerializationError/invalidFieldValue(name:)``; by default
    ///   ``RequestSerializationError/fieldsNotSupported(serializer:)``. The serializer is then as it was.
    @_disfavoredOverload  // for a literal nil, which the one of the extension takes
    mutating func setValue(
        _ value: String?,
        forHTTPHeaderField name: String
    ) throws(RequestSerializationError)

    /// Sets `Authorization` to the Basic scheme of [RFC 7617](https://www.rfc-editor.org/rfc/rfc7617), in
    /// UTF-8.
    ///
    /// - Throws: what ``setValue(_:forHTTPHeaderField:)`` throws.
    mutating func setAuthorization(username: String, password: String) throws(RequestSerializationError)

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
    /// A plain request of the method, the URL and the headers.
    public func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest {
        try URLRequest(url: url, method: method, headers: headers)
    }

    /// A request made from its parts: ``emptyRequest(method:url:headers:)``, which
    /// ``request(bySerializing:with:)`` completes.
    ///
    /// - Parameters:
    ///   - method: sent as given, in capitals if it is registered at IANA.
    ///   - url: absolute.
    ///   - parameters: as for ``request(bySerializing:with:)``.
    ///   - headers: fields of this one request; they win over those of the serializer.
    /// - Returns: a request that is ready to be sent.
    /// - Throws: what the two methods throw.
    public func request(
        method: String,
        url: URL,
        parameters: Any?,
        headers: [String: String] = [:]
    ) throws -> URLRequest {
        let request = try emptyRequest(method: method, url: url, headers: headers)
        return try self.request(bySerializing: request, with: parameters)
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
    @_disfavoredOverload
    public mutating func setValue(
        _ value: String?,
        forHTTPHeaderField name: String
    ) throws(RequestSerializationError) {
        throw .fieldsNotSupported(serializer: "\(Self.self)")
    }

    /// Removes a field, whatever the case of its name. A serializer that does not have it stays as it is.
    public mutating func setValue(_ none: Never?, forHTTPHeaderField name: String) {
        // A name that is no name, and any name for a serializer without fields, is not among its fields.
        try? setValue(String?.none, forHTTPHeaderField: name)
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
    public mutating func clearAuthorization() {
        setValue(nil, forHTTPHeaderField: "Authorization")
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
