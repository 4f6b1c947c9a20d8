public import Foundation
public import FoundationNetworking

/// The parameters of a request: usually the query of GET, HEAD and DELETE, and the body of other methods.
///
/// ```swift
/// try await manager.get("users", parameters: ["page": 2, "sort": "name"])
/// try await manager.post("users", parameters: .encoding(user))
/// try await manager.post("photos", parameters: .form(["title": "Lake"]) { form in
///     try form.appendPart(withFileURL: file, name: "photo")
/// })
/// try await manager.put("photos/1", parameters: .body(.file(file)))
/// ```
///
/// | Parameters                               | Become                                         |
/// |------------------------------------------|------------------------------------------------|
/// | a dictionary                             | a query or a body, depending on the serializer |
/// | an array                                 | a body; an error for forms, which need names   |
/// | ``encoding(_:)``                         | the same, from an `Encodable` value            |
/// | ``form(_:constructingBody:)``            | a multipart form                               |
/// | ``body(_:)``                             | a body that is sent as it is                   |
/// | none, or `nil` in an optional dictionary | nothing                                        |
public protocol RequestParameters {
    /// Returns a request with the parameters. Called on the thread of the verb's caller.
    ///
    /// - Parameters:
    ///   - method: the HTTP method.
    ///   - url: an absolute URL.
    ///   - headers: fields of this request; they take precedence over the serializer's.
    ///   - serializer: the request serializer of the manager.
    /// - Returns: a complete request, including the serializer's fields.
    /// - Throws: any error; the verb fails with it.
    func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest
}

// MARK: - Dictionaries and arrays

extension Dictionary: RequestParameters where Key == String {
    /// Returns a request with the pairs in the query or body, as encoded by the serializer.
    public func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest {
        try serializer.request(method: method, url: url, parameters: self, headers: headers)
    }
}

extension Array: RequestParameters {
    /// Returns a request with the elements in the body, as encoded by the serializer.
    public func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest {
        try serializer.request(method: method, url: url, parameters: self, headers: headers)
    }
}

// MARK: - None

/// No parameters: the default of the verbs.
public struct NoParameters: RequestParameters, Sendable {
    /// Creates the absence of parameters.
    public init() {}

    /// Returns the serializer's request without parameters.
    public func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest {
        try serializer.request(method: method, url: url, parameters: nil, headers: headers)
    }
}

extension Optional: RequestParameters where Wrapped: RequestParameters {
    /// Returns the request of the wrapped parameters; `nil` means ``NoParameters``.
    public func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest {
        guard let self else {
            return try NoParameters().request(method: method, url: url, headers: headers, by: serializer)
        }
        return try self.request(method: method, url: url, headers: headers, by: serializer)
    }
}

// MARK: - Encodable values

/// An `Encodable` value as parameters: see ``RequestParameters/encoding(_:)``. Its type is `nonisolated`, because it is
/// encoded on other threads:
///
/// ```swift
/// nonisolated struct NewUser: Encodable, Sendable { let name: String }
/// nonisolated struct User: Decodable, Sendable { let id: Int, name: String }
/// ```
/// ```swift
/// let user = try await manager.post("users", parameters: .encoding(newUser), as: User.self)
/// ```
///
/// Dates and numbers, also in dictionaries and arrays within it, are written as they encode. The library's
/// serializers encode the value; a custom serializer receives the value itself as its parameters.
public struct EncodedParameters: RequestParameters {
    let value: any Encodable

    /// Returns a request with the value as a query, a form, JSON or a property list, as encoded by the
    /// serializer.
    public func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest {
        let parameters: Any = serializer is any EncodedParametersTaking ? self : value
        return try serializer.request(method: method, url: url, parameters: parameters, headers: headers)
    }

    /// Returns the parameters for the caller's closures and messages.
    static func unwrapped(_ parameters: Any) -> Any {
        (parameters as? EncodedParameters)?.value ?? parameters
    }
}

extension RequestParameters where Self == EncodedParameters {
    /// Parameters of the program's own type.
    public static func encoding(_ value: some Encodable & Sendable) -> Self {
        EncodedParameters(value: value)
    }
}

/// A serializer that accepts ``EncodedParameters`` directly.
protocol EncodedParametersTaking {}
