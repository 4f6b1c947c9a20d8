internal import Foundation

// Forms of several parts, and lists.
extension SessionResponseVerbs {
    // MARK: - POST

    /// Sends a POST request with a form of several parts.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void
    ) async throws -> Response<(any Sendable)?> {
        let form = try session.form("POST", path, parameters, headers, constructBody)
        return try await send(form: form, session.responseSerializer)
    }

    /// Sends a POST request with a form of several parts, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type
    ) async throws -> Response<Value> {
        let form = try session.form("POST", path, parameters, headers, constructBody)
        return try await send(form: form, session.decodableSerializer(for: type))
    }

    /// Sends a POST request with a list.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "POST", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a POST request with a list, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type)
    }

    // MARK: - PUT

    /// Sends a PUT request with a form of several parts.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void
    ) async throws -> Response<(any Sendable)?> {
        let form = try session.form("PUT", path, parameters, headers, constructBody)
        return try await send(form: form, session.responseSerializer)
    }

    /// Sends a PUT request with a form of several parts, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type
    ) async throws -> Response<Value> {
        let form = try session.form("PUT", path, parameters, headers, constructBody)
        return try await send(form: form, session.decodableSerializer(for: type))
    }

    /// Sends a PUT request with a list.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PUT", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a PUT request with a list, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type)
    }

    // MARK: - PATCH

    /// Sends a PATCH request with a form of several parts.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void
    ) async throws -> Response<(any Sendable)?> {
        let form = try session.form("PATCH", path, parameters, headers, constructBody)
        return try await send(form: form, session.responseSerializer)
    }

    /// Sends a PATCH request with a form of several parts, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        as type: Value.Type
    ) async throws -> Response<Value> {
        let form = try session.form("PATCH", path, parameters, headers, constructBody)
        return try await send(form: form, session.decodableSerializer(for: type))
    }

    /// Sends a PATCH request with a list.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PATCH", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a PATCH request with a list, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type)
    }
}
