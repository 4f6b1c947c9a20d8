internal import Foundation
internal import FoundationNetworking

// Responses as values of a type: the verbs with `as:`. HEAD has no body to decode. Cancelling the task
// cancels the operation.
extension OperationManager {
    /// Sends a GET request and returns the response as a value of `type`: JSON, decoded by a decoder of
    /// ``makeJSONDecoder``, of what ``responseSerializer`` accepts if that is a ``JSONResponseSerializer``.
    ///
    /// - Parameters:
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: as for the verb without a type.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - type: the type of the value; an optional takes an empty body, and ``EmptyResponse`` any body.
    ///   - configure: called with the operation before it is in the queue: later it cannot be configured.
    /// - Returns: the value.
    /// - Throws: the operation's `error`, or why no request could be made.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        try await value(
            of: Call(method: "GET", path: path, parameters: parameters, headers: headers),
            as: type,
            configure
        )
    }

    /// Sends a POST request and decodes the response: see ``get(_:parameters:headers:as:configure:)``.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        try await value(
            of: Call(method: "POST", path: path, parameters: parameters, headers: headers),
            as: type,
            configure
        )
    }

    /// Sends a PUT request and decodes the response: see ``get(_:parameters:headers:as:configure:)``.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        try await value(
            of: Call(method: "PUT", path: path, parameters: parameters, headers: headers),
            as: type,
            configure
        )
    }

    /// Sends a PATCH request and decodes the response: see ``get(_:parameters:headers:as:configure:)``.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        try await value(
            of: Call(method: "PATCH", path: path, parameters: parameters, headers: headers),
            as: type,
            configure
        )
    }

    /// Sends a DELETE request and decodes the response: see ``get(_:parameters:headers:as:configure:)``.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        try await value(
            of: Call(method: "DELETE", path: path, parameters: parameters, headers: headers),
            as: type,
            configure
        )
    }

    // MARK: - Serializers

    /// The serializer of the verbs with `as:`. It decodes JSON with a decoder of ``makeJSONDecoder``, and
    /// accepts what ``responseSerializer`` accepts if that is a ``JSONResponseSerializer``.
    func decodableSerializer<Value>(for type: Value.Type) -> DecodableResponseSerializer<Value> {
        var serializer = DecodableResponseSerializer(type, makeDecoder: makeJSONDecoder)
        if let json = responseSerializer as? JSONResponseSerializer {
            serializer.validation = json.validation
        }
        return serializer
    }

    // MARK: - For the verbs

    nonisolated(nonsending) func value<Value: Decodable & Sendable>(
        of call: Call,
        as type: Value.Type,
        _ configure: (HTTPRequestOperation) throws -> Void
    ) async throws -> Value {
        try await value(of: try request(for: call), as: type, configure)
    }

    nonisolated(nonsending) func value<Value: Decodable & Sendable>(
        of request: URLRequest,
        as type: Value.Type,
        _ configure: (HTTPRequestOperation) throws -> Void
    ) async throws -> Value {
        let operation = operation(for: request)
        operation.responseSerializer = decodableSerializer(for: type)
        try configure(operation)
        add(operation)
        return try await operation.value(as: type)
    }
}
