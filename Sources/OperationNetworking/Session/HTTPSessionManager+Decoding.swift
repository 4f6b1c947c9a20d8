internal import Foundation

// Responses as values of a type: the verbs with `as:`. HEAD has no body to decode. Cancelling the Swift task
// cancels the session's. None of them needs a completion queue.
extension HTTPSessionManager {
    /// Sends a GET request and returns the response as a value of `type`: JSON, decoded by a decoder of
    /// ``makeJSONDecoder``, of what the response serializer accepts if that is a ``JSONResponseSerializer``.
    ///
    /// - Parameters:
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: as for the verb without a type.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - type: the type of the value; an optional takes an empty body, and ``EmptyResponse`` any body.
    /// - Returns: the value.
    /// - Throws: the task's `error`, or why no request could be made.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "GET", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    /// Sends a POST request and decodes the response: see ``get(_:parameters:headers:as:)``.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "POST", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    /// Sends a PUT request and decodes the response: see ``get(_:parameters:headers:as:)``.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "PUT", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    /// Sends a PATCH request and decodes the response: see ``get(_:parameters:headers:as:)``.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "PATCH", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    /// Sends a DELETE request and decodes the response: see ``get(_:parameters:headers:as:)``.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "DELETE", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    // MARK: - Serializers

    /// The serializer of the verbs with `as:`: as that of the manager.
    func decodableSerializer<Value>(for type: Value.Type) -> DecodableResponseSerializer<Value> {
        core.operations.decodableSerializer(for: type)
    }

    // MARK: - For the verbs

    nonisolated(nonsending) func value<Value: Decodable & Sendable>(of call: Call, as type: Value.Type)
        async throws -> Value
    {
        let task = makeDataTask(
            try core.operations.request(for: call),
            TaskDelegate.Closures(),
            serializer: decodableSerializer(for: type)
        )
        task.resume()
        guard let value = try await task.outcome as? Value else {
            throw Self.noObject(of: task, as: type)
        }
        return value
    }
}
