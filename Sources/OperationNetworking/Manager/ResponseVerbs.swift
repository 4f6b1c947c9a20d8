internal import Foundation
internal import FoundationNetworking

extension OperationManager {
    /// The verbs that return the value together with the response and the cost of the exchange.
    ///
    /// ```swift
    /// let page = try await manager.responses.get("users", as: [User].self)
    /// print(page.value.count, page.statusCode, page.value(forHTTPHeaderField: "Link") ?? "the last page")
    /// ```
    public var responses: ResponseVerbs { ResponseVerbs(manager: self) }
}

/// The verbs of a manager that return a ``Response``: see ``OperationManager/responses``. They take what
/// those of the manager take, throw the same, and end with the cancellation of their task. Verbs with a
/// serializer (`with:`) are here only: the ``Response/value`` is what those of a manager would return.
public struct ResponseVerbs: Sendable {
    let manager: OperationManager

    // MARK: - GET

    /// Sends a GET request.
    @discardableResult
    public nonisolated(nonsending) func get(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "GET", path: path, parameters: parameters, headers: headers), configure)
    }

    /// Sends a GET request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "GET", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type, configure)
    }

    /// Sends a GET request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func get(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "GET", path: path, parameters: value, headers: headers), configure)
    }

    /// Sends a GET request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "GET", path: path, parameters: value, headers: headers)
        return try await send(call, as: type, configure)
    }

    // MARK: - HEAD

    /// Sends a HEAD request.
    @discardableResult
    public nonisolated(nonsending) func head(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "HEAD", path: path, parameters: parameters, headers: headers), configure)
    }

    // MARK: - POST

    /// Sends a POST request.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "POST", path: path, parameters: parameters, headers: headers), configure)
    }

    /// Sends a POST request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type, configure)
    }

    /// Sends a POST request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "POST", path: path, parameters: value, headers: headers), configure)
    }

    /// Sends a POST request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "POST", path: path, parameters: value, headers: headers)
        return try await send(call, as: type, configure)
    }

    // MARK: - PUT

    /// Sends a PUT request.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PUT", path: path, parameters: parameters, headers: headers), configure)
    }

    /// Sends a PUT request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type, configure)
    }

    /// Sends a PUT request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PUT", path: path, parameters: value, headers: headers), configure)
    }

    /// Sends a PUT request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "PUT", path: path, parameters: value, headers: headers)
        return try await send(call, as: type, configure)
    }

    // MARK: - PATCH

    /// Sends a PATCH request.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PATCH", path: path, parameters: parameters, headers: headers), configure)
    }

    /// Sends a PATCH request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type, configure)
    }

    /// Sends a PATCH request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PATCH", path: path, parameters: value, headers: headers), configure)
    }

    /// Sends a PATCH request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "PATCH", path: path, parameters: value, headers: headers)
        return try await send(call, as: type, configure)
    }

    // MARK: - DELETE

    /// Sends a DELETE request.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(
            Call(method: "DELETE", path: path, parameters: parameters, headers: headers),
            configure
        )
    }

    /// Sends a DELETE request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "DELETE", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type, configure)
    }

    /// Sends a DELETE request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "DELETE", path: path, parameters: value, headers: headers), configure)
    }

    /// Sends a DELETE request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Response<Value> {
        let call = Call(method: "DELETE", path: path, parameters: value, headers: headers)
        return try await send(call, as: type, configure)
    }

    // MARK: - For the verbs

    typealias Call = OperationManager.Call

    nonisolated(nonsending) func send(
        _ request: URLRequest,
        _ configure: (HTTPRequestOperation) throws -> Void
    ) async throws -> Response<(any Sendable)?> {
        let operation = manager.operation(for: request)
        try configure(operation)
        manager.add(operation)
        return try operation.response(with: try await operation.value)
    }

    nonisolated(nonsending) func send(
        _ call: Call,
        _ configure: (HTTPRequestOperation) throws -> Void
    ) async throws -> Response<(any Sendable)?> {
        try await send(manager.request(for: call), configure)
    }

    nonisolated(nonsending) func send<Value: Decodable & Sendable>(
        _ call: Call,
        as type: Value.Type,
        _ configure: (HTTPRequestOperation) throws -> Void
    ) async throws -> Response<Value> {
        try await send(manager.request(for: call), as: type, configure)
    }

    nonisolated(nonsending) func send<Serializer: TypedResponseSerializer>(
        _ call: Call,
        with serializer: Serializer,
        _ configure: (HTTPRequestOperation) throws -> Void
    ) async throws -> Response<Serializer.Object> {
        try await response(for: manager.request(for: call), with: serializer, configure: configure)
    }

    nonisolated(nonsending) func send<Value: Decodable & Sendable>(
        _ request: URLRequest,
        as type: Value.Type,
        _ configure: (HTTPRequestOperation) throws -> Void
    ) async throws -> Response<Value> {
        let serializer = manager.decodableSerializer(for: type)
        return try await response(for: request, with: serializer, configure: configure)
    }
}
