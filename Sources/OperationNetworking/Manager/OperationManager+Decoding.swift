internal import Foundation

// Responses as values of a type: the verbs with `as:`. HEAD has no body to decode. Cancelling the task
// cancels the operation.
extension OperationManager {
    /// Sends a GET request and returns the response as a value of `type`, decoded as
    /// ``decodableSerializer(for:)`` says.
    ///
    /// - Parameters:
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: as for the verb without a type.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - type: the type of the value; an optional, or ``EmptyResponse``, takes an empty body.
    /// - Returns: the value.
    /// - Throws: the operation's `error`, or why no request could be made.
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "GET", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    /// Sends a POST request and decodes the response: see ``get(_:parameters:headers:as:)``.
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "POST", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    /// Sends a PUT request and decodes the response: see ``get(_:parameters:headers:as:)``.
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "PUT", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    /// Sends a PATCH request and decodes the response: see ``get(_:parameters:headers:as:)``.
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "PATCH", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    /// Sends a DELETE request and decodes the response: see ``get(_:parameters:headers:as:)``.
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        try await value(
            of: Call(method: "DELETE", path: path, parameters: parameters, headers: headers),
            as: type
        )
    }

    // MARK: - Serializers

    /// The serializer of the verbs with `as:`. It decodes JSON with a decoder of ``makeJSONDecoder``, and
    /// accepts what ``responseSerializer`` accepts if that is a ``JSONResponseSerializer``.
    public func decodableSerializer<Value>(for type: Value.Type) -> DecodableResponseSerializer<Value> {
        var serializer = DecodableResponseSerializer(type, decoder: makeJSONDecoder)
        if let json = responseSerializer as? JSONResponseSerializer {
            serializer.validation = json.validation
        }
        return serializer
    }

    // MARK: - For the verbs

    func value<Value: Decodable & Sendable>(of call: Call, as type: Value.Type) async throws -> Value {
        let operation = operation(for: try request(for: call))
        operation.responseSerializer = decodableSerializer(for: type)
        operationQueue.addOperation(operation)
        let object = try await operation.value
        guard let value = object as? Value else {
            // A subclass took another serializer: it can have meant only this.
            throw ResponseSerializationError(
                .unexpectedStructure(type: "\(type)", "the operation's serializer made something else"),
                response: operation.response,
                data: operation.responseData
            )
        }
        return value
    }
}
