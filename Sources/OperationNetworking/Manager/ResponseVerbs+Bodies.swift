internal import Foundation
internal import FoundationNetworking

// Bodies that are sent as they are, forms of several parts, and lists.
extension ResponseVerbs {
    // MARK: - Bodies as they are

    /// Sends a body as it is: see ``OperationManager/upload(_:to:method:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func upload(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(
            manager.uploadRequest(body, path: path, method: method, headers: headers),
            configure
        )
    }

    /// Sends a body as it is, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func upload<Value: Decodable & Sendable>(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        try await send(
            manager.uploadRequest(body, path: path, method: method, headers: headers),
            as: type,
            configure
        )
    }

    // MARK: - POST

    /// Sends a POST request with a form of several parts.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(manager.multipartRequest("POST", path, parameters, headers, constructBody), configure)
    }

    /// Sends a POST request with a form of several parts, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let request = try manager.multipartRequest("POST", path, parameters, headers, constructBody)
        return try await send(request, as: type, configure)
    }

    /// Sends a POST request with a list.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "POST", path: path, parameters: parameters, headers: headers), configure)
    }

    /// Sends a POST request with a list, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type, configure)
    }

    // MARK: - PUT

    /// Sends a PUT request with a form of several parts.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(manager.multipartRequest("PUT", path, parameters, headers, constructBody), configure)
    }

    /// Sends a PUT request with a form of several parts, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let request = try manager.multipartRequest("PUT", path, parameters, headers, constructBody)
        return try await send(request, as: type, configure)
    }

    /// Sends a PUT request with a list.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PUT", path: path, parameters: parameters, headers: headers), configure)
    }

    /// Sends a PUT request with a list, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type, configure)
    }

    // MARK: - PATCH

    /// Sends a PATCH request with a form of several parts.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(manager.multipartRequest("PATCH", path, parameters, headers, constructBody), configure)
    }

    /// Sends a PATCH request with a form of several parts, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let request = try manager.multipartRequest("PATCH", path, parameters, headers, constructBody)
        return try await send(request, as: type, configure)
    }

    /// Sends a PATCH request with a list.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PATCH", path: path, parameters: parameters, headers: headers), configure)
    }

    /// Sends a PATCH request with a list, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type, configure)
    }
}
