public import Foundation
public import FoundationNetworking

/// Creates requests from a method, a URL, parameters and fields.
///
/// A serializer is a value without mutable state, so a manager can use it for all operations concurrently.
/// Runs on the caller's thread.
public protocol RequestSerializer: Sendable {
    /// Returns the request with `parameters` encoded in the URL or body. Called for every request of a verb.
    /// The result is sent as it is, except for secret fields that belong to another origin, so a request can
    /// be signed here after its parameters are encoded.
    ///
    /// Existing fields of the request are kept; the serializer's fields are added if missing. Without
    /// parameters the request keeps its body: a form or file already has its body, type and length.
    ///
    /// - Parameters:
    ///   - request: the request with its method, URL and fields.
    ///   - parameters: usually a dictionary, for some serializers also an array; `nil` if there are none.
    /// - Returns: a request that is ready to be sent.
    /// - Throws: any error; it is passed to the caller. The library's serializers throw
    ///   ``RequestSerializationError``.
    func request(bySerializing request: URLRequest, with parameters: Any?) throws -> URLRequest

    /// Returns a request without parameters and without the serializer's fields. The default implementation
    /// returns a plain request; a serializer with its own settings, such as a time limit, applies them here.
    ///
    /// - Parameters:
    ///   - method: the method, sent as given, or in capitals if it is registered at IANA.
    ///   - url: an absolute URL.
    ///   - headers: fields of this request; they take precedence over the serializer's.
    /// - Returns: a request without a body.
    /// - Throws: ``RequestSerializationError`` if the method or a field cannot be sent.
    func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest

    // MARK: Fields of every request

    /// The fields that are added to requests that do not have them. Defaults to none.
    var httpRequestHeaders: [String: String] { get }

    /// Returns the value of a field, by case-insensitive name; `nil` if it is not set.
    func value(forHTTPHeaderField name: String) -> String?

    /// Sets a field of every request, by case-insensitive name; `nil` removes it. With a literal `nil` it
    /// does not throw.
    ///
    /// - Throws: ``RequestSerializationError/invalidFieldName(_:)`` or
    ///   ``RequestSerializationError/invalidFieldValue(name:)``; by default
    ///   ``RequestSerializationError/fieldsNotSupported(serializer:)``. The serializer is then unchanged.
    @_disfavoredOverload  // so that a literal nil selects the overload in the extension
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

    /// Sets the `timeoutInterval` of requests that the serializer creates: the seconds without a byte in
    /// either direction. `nil` means Foundation's 60.
    ///
    /// - Throws: ``RequestSerializationError/settingNotSupported(_:serializer:)`` by default.
    mutating func setTimeoutInterval(_ seconds: TimeInterval?) throws(RequestSerializationError)

    /// Sets the `cachePolicy` of requests that the serializer creates. `nil` means Foundation's, the rules of
    /// HTTP.
    ///
    /// - Throws: as ``setTimeoutInterval(_:)``.
    mutating func setCachePolicy(_ policy: URLRequest.CachePolicy?) throws(RequestSerializationError)

    /// Sets whether requests that the serializer creates send and store cookies. `nil` means Foundation's
    /// `true`.
    ///
    /// - Throws: as ``setTimeoutInterval(_:)``.
    mutating func setHTTPShouldHandleCookies(_ handlesCookies: Bool?) throws(RequestSerializationError)
}

extension RequestSerializer {
    /// Returns a plain request with the method, URL and headers.
    public func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest {
        try URLRequest(url: url, method: method, headers: headers)
    }

    /// Creates a request: ``emptyRequest(method:url:headers:)``, completed by
    /// ``request(bySerializing:with:)``.
    ///
    /// - Parameters:
    ///   - method: the method, sent as given, or in capitals if it is registered at IANA.
    ///   - url: an absolute URL.
    ///   - parameters: see ``request(bySerializing:with:)``.
    ///   - headers: fields of this request; they take precedence over the serializer's.
    /// - Returns: a request that is ready to be sent.
    /// - Throws: the errors of these two methods.
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

// MARK: - Default implementations

extension RequestSerializer {
    /// No fields.
    public var httpRequestHeaders: [String: String] { [:] }

    /// Returns the value in ``httpRequestHeaders``, by case-insensitive name.
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

    /// Removes a field, by case-insensitive name. Does nothing if it is not set.
    public mutating func setValue(_ none: Never?, forHTTPHeaderField name: String) {
        // An error means that the name is invalid or the serializer has no fields, so there is nothing to
        // remove.
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

    /// Sets `Authorization` to `Token token="..."`, as in AFNetworking 2.
    ///
    /// - Throws: the errors of ``RequestSerializer/setValue(_:forHTTPHeaderField:)``:
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
    /// Creates a request whose method and fields have been validated.
    init(url: URL, method: String, headers: [String: String]) throws(RequestSerializationError) {
        guard method.isHTTPToken else { throw .invalidMethod(method) }
        self.init(url: url)
        httpMethod = method
        // Sorted, because of names that differ only in case, the last one wins.
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            try RequestSerializationError.check(name: name, value: value)
            setValue(value, forHTTPHeaderField: name)
        }
    }
}
