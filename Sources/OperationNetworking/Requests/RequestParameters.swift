public import Foundation
public import FoundationNetworking

/// What a request carries: most often the query of GET, HEAD and DELETE, and the body of other methods.
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
/// | Parameters                                   | Become                                              |
/// |----------------------------------------------|-----------------------------------------------------|
/// | a dictionary                                 | a query or a body, as the request serializer says   |
/// | an array                                     | a body; a form has names and refuses it             |
/// | ``encoding(_:)``                             | the same of an `Encodable` value                    |
/// | ``form(_:constructingBody:)``                | a form of several parts                             |
/// | ``body(_:)``                                 | a body that is sent as it is                        |
/// | none, or `nil` in an optional dictionary     | nothing                                             |
public protocol RequestParameters {
    /// Returns a request that carries the parameters. Called on the thread of the caller of a verb.
    ///
    /// - Parameters:
    ///   - method: of the request.
    ///   - url: absolute.
    ///   - headers: fields of this one request; they win over those of the serializer.
    ///   - serializer: the request serializer of the manager.
    /// - Returns: a complete request, with the headers of the serializer, too.
    /// - Throws: anything; a verb fails with what was thrown.
    func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest
}

// MARK: - Dictionaries and arrays

extension Dictionary: RequestParameters where Key == String {
    /// Has the serializer put the pairs into the query or the body.
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
    /// Has the serializer put the elements into the body.
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

/// The absence of parameters, the default of the verbs.
public struct NoParameters: RequestParameters, Sendable {
    /// No parameters.
    public init() {}

    /// Has the serializer make a request without parameters.
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
    /// The request of the wrapped parameters; of none, that of ``NoParameters``.
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

/// An `Encodable` value as parameters: see ``RequestParameters/encoding(_:)``.
///
/// In a dictionary or an array within it, dates and numbers are what they encode, too. The library's
/// serializers encode the value; one of your own receives the value itself as its parameters.
public struct EncodedParameters: RequestParameters {
    let value: any Encodable

    /// Has the serializer encode the value as a query, a form, JSON or a property list.
    public func request(
        method: String,
        url: URL,
        headers: [String: String],
        by serializer: any RequestSerializer
    ) throws -> URLRequest {
        let parameters: Any = serializer is any EncodedParametersTaking ? self : value
        return try serializer.request(method: method, url: url, parameters: parameters, headers: headers)
    }

    /// Returns what a closure or a message of the caller's shows as the parameters.
    static func unwrapped(_ parameters: Any) -> Any {
        (parameters as? EncodedParameters)?.value ?? parameters
    }
}

extension RequestParameters where Self == EncodedParameters {
    /// Parameters of a type of the program.
    public static func encoding(_ value: some Encodable & Sendable) -> Self {
        EncodedParameters(value: value)
    }
}

/// A serializer that takes ``EncodedParameters`` as they are.
protocol EncodedParametersTaking {}
