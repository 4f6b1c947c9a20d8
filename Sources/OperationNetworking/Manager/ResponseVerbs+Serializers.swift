internal import Foundation
public import FoundationNetworking

// Requests of your own, and what a serializer of your own makes of the response.
extension ResponseVerbs {
    /// Sends a request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func response<Serializer: TypedResponseSerializer>(
        for request: URLRequest,
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let operation = manager.operation(for: request)
        operation.responseSerializer = serializer
        try configure(operation)
        manager.add(operation)
        return try await operation.response(as: Serializer.Object.self)
    }

    /// Sends a body as it is, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func upload<Serializer: TypedResponseSerializer>(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let request = try manager.uploadRequest(body, path: path, method: method, headers: headers)
        return try await response(for: request, with: serializer, configure: configure)
    }

    // MARK: - GET

    /// Sends a GET request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func get<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "GET", path: path, parameters: parameters, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a GET request with an encoded value, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func get<Serializer: TypedResponseSerializer>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "GET", path: path, parameters: value, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    // MARK: - POST

    /// Sends a POST request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func post<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a POST request with an encoded value, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func post<Serializer: TypedResponseSerializer>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "POST", path: path, parameters: value, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a POST request with a list, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func post<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a POST request with a form of several parts, and returns what the serializer makes of the
    /// response.
    public nonisolated(nonsending) func post<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let request = try manager.multipartRequest("POST", path, parameters, headers, constructBody)
        return try await response(for: request, with: serializer, configure: configure)
    }

    // MARK: - PUT

    /// Sends a PUT request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func put<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a PUT request with an encoded value, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func put<Serializer: TypedResponseSerializer>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "PUT", path: path, parameters: value, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a PUT request with a list, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func put<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a PUT request with a form of several parts, and returns what the serializer makes of the
    /// response.
    public nonisolated(nonsending) func put<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let request = try manager.multipartRequest("PUT", path, parameters, headers, constructBody)
        return try await response(for: request, with: serializer, configure: configure)
    }

    // MARK: - PATCH

    /// Sends a PATCH request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func patch<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a PATCH request with an encoded value, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func patch<Serializer: TypedResponseSerializer>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "PATCH", path: path, parameters: value, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a PATCH request with a list, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func patch<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a PATCH request with a form of several parts, and returns what the serializer makes of the
    /// response.
    public nonisolated(nonsending) func patch<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let request = try manager.multipartRequest("PATCH", path, parameters, headers, constructBody)
        return try await response(for: request, with: serializer, configure: configure)
    }

    // MARK: - DELETE

    /// Sends a DELETE request, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func delete<Serializer: TypedResponseSerializer>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "DELETE", path: path, parameters: parameters, headers: headers)
        return try await send(call, with: serializer, configure)
    }

    /// Sends a DELETE request with an encoded value, and returns what the serializer makes of the response.
    public nonisolated(nonsending) func delete<Serializer: TypedResponseSerializer>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        with serializer: Serializer,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Serializer.Object> {
        let call = Call(method: "DELETE", path: path, parameters: value, headers: headers)
        return try await send(call, with: serializer, configure)
    }
}
