internal import Foundation
internal import FoundationNetworking

extension HTTPSessionManager {
    /// The verbs that return the value together with the response and the cost of the exchange.
    ///
    /// ```swift
    /// let page = try await session.responses.get("users", as: [User].self)
    /// print(page.value.count, page.statusCode, page.value(forHTTPHeaderField: "Link") ?? "the last page")
    /// ```
    public var responses: SessionResponseVerbs { SessionResponseVerbs(session: self) }
}

/// The verbs of a session that return a ``Response``: see ``HTTPSessionManager/responses``. They take what
/// those of the session take, throw the same, and end with the cancellation of their Swift task. The object
/// of such a task is its ``Response``. Verbs with a serializer (`with:`) are here only: the
/// ``Response/value`` is what those of the session would return.
public struct SessionResponseVerbs: Sendable {
    let session: HTTPSessionManager

    /// Sends a GET request.
    @discardableResult
    public nonisolated(nonsending) func get(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "GET", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a GET request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "GET", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type)
    }

    /// Sends a GET request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func get(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "GET", path: path, parameters: value, headers: headers))
    }

    /// Sends a GET request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "GET", path: path, parameters: value, headers: headers)
        return try await send(call, as: type)
    }

    /// Sends a HEAD request.
    @discardableResult
    public nonisolated(nonsending) func head(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "HEAD", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a POST request.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "POST", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a POST request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type)
    }

    /// Sends a POST request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "POST", path: path, parameters: value, headers: headers))
    }

    /// Sends a POST request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "POST", path: path, parameters: value, headers: headers)
        return try await send(call, as: type)
    }

    /// Sends a PUT request.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PUT", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a PUT request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type)
    }

    /// Sends a PUT request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PUT", path: path, parameters: value, headers: headers))
    }

    /// Sends a PUT request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "PUT", path: path, parameters: value, headers: headers)
        return try await send(call, as: type)
    }

    /// Sends a PATCH request.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PATCH", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a PATCH request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type)
    }

    /// Sends a PATCH request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "PATCH", path: path, parameters: value, headers: headers))
    }

    /// Sends a PATCH request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "PATCH", path: path, parameters: value, headers: headers)
        return try await send(call, as: type)
    }

    /// Sends a DELETE request.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "DELETE", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a DELETE request, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "DELETE", path: path, parameters: parameters, headers: headers)
        return try await send(call, as: type)
    }

    /// Sends a DELETE request with an encoded value.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:]
    ) async throws -> Response<(any Sendable)?> {
        try await send(Call(method: "DELETE", path: path, parameters: value, headers: headers))
    }

    /// Sends a DELETE request with an encoded value, and decodes the response as a value of `type`.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Response<Value> {
        let call = Call(method: "DELETE", path: path, parameters: value, headers: headers)
        return try await send(call, as: type)
    }

    // MARK: - For the verbs

    typealias Call = OperationManager.Call

    nonisolated(nonsending) func send(_ call: Call) async throws -> Response<(any Sendable)?> {
        try await send(session.core.operations.request(for: call), session.responseSerializer)
    }

    nonisolated(nonsending) func send<Value: Decodable & Sendable>(
        _ call: Call,
        as type: Value.Type
    ) async throws -> Response<Value> {
        let request = try session.core.operations.request(for: call)
        return try await send(request, session.decodableSerializer(for: type))
    }

    nonisolated(nonsending) func send<Serializer: TypedResponseSerializer>(
        _ call: Call,
        with serializer: Serializer
    ) async throws -> Response<Serializer.Object> {
        try await send(session.core.operations.request(for: call), serializer)
    }

    nonisolated(nonsending) func send<Value: Sendable>(
        _ request: URLRequest,
        _ serializer: any ResponseSerializer
    ) async throws -> Response<Value> {
        let serializer = WholeResponseSerializer<Value>(object: serializer)
        let task = session.makeDataTask(request, TaskDelegate.Closures(), serializer: serializer)
        return try await response(of: task)
    }

    nonisolated(nonsending) func send<Value: Sendable>(
        form request: URLRequest,
        _ serializer: any ResponseSerializer
    ) async throws -> Response<Value> {
        let serializer = WholeResponseSerializer<Value>(object: serializer)
        let task = session.makeUploadTask(request, TaskDelegate.Closures(), serializer: serializer)
        return try await response(of: task)
    }

    private nonisolated(nonsending) func response<Value: Sendable>(of task: DataTask) async throws
        -> Response<Value>
    {
        task.resume()
        guard let response = try await task.outcome as? Response<Value> else {
            throw HTTPSessionManager.noObject(of: task, as: Value.self)
        }
        return response
    }
}

/// Makes the ``Response`` of the value that another serializer makes, where and as that makes it.
private struct WholeResponseSerializer<Value: Sendable>: MessageSerializer, QueuedResponseSerializer {
    let object: any ResponseSerializer

    var processingQueue: ProcessingQueue? { (object as? any QueuedResponseSerializer)?.processingQueue }

    func isQuick(byteCount: Int?) -> Bool {
        (object as? any MessageSerializer)?.isQuick(byteCount: byteCount) ?? false
    }

    func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        let made = try object.responseObject(from: message)
        let metrics = try message.origin?.responseObject(of: message, by: MetricsReader())?.value
        guard let head = message.response?.value, let metrics = metrics as? TransferMetrics,
            let value = made as? Value
        else {
            throw ResponseSerializationError(
                .unexpectedStructure(type: "\(Value.self)", "the serializer made something else"),
                response: message.response,
                data: message.data
            )
        }
        return Response(value: value, response: head, metrics: metrics, data: message.data)
    }
}

/// Asks an operation for the cost of its exchange.
private struct MetricsReader: TransferResponseSerializer {
    func responseObject(for transfer: ReceivedTransfer) -> (any Sendable)? { transfer.metrics }
}
