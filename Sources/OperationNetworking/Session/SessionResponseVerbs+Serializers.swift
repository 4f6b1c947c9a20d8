internal import Foundation
public import FoundationNetworking

// Requests of your own, and what a serializer of your own makes of the response.
extension SessionResponseVerbs {
    /// Sends a request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func response<Serializer: TypedResponseSerializer>(
        for request: URLRequest,
        with serializer: Serializer
    ) async throws -> Response<Serializer.Object> {
        try await send(request, serializer)
    }

    /// Sends a GET request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func get<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "GET", path: path, parameters: parameters, headers: headers)
        return try await send(session.core.operations.request(for: call), serializer)
    }

    /// Sends a POST request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func post<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await send(session.core.operations.request(for: call), serializer)
    }

    /// Sends a PUT request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func put<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await send(session.core.operations.request(for: call), serializer)
    }

    /// Sends a PATCH request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func patch<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await send(session.core.operations.request(for: call), serializer)
    }

    /// Sends a DELETE request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func delete<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "DELETE", path: path, parameters: parameters, headers: headers)
        return try await send(session.core.operations.request(for: call), serializer)
    }
}
