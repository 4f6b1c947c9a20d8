public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A result with the response that it came in.
///
/// ```swift
/// let page = try await manager.responses.get("users", as: [User].self)
/// let next = page.value(forHTTPHeaderField: "Link")
/// ```
public struct Response<Value: Sendable>: Sendable {
    /// The result.
    public let value: Value
    /// The head of the response.
    public let response: HTTPURLResponse
    /// The cost of the exchange.
    public let metrics: TransferMetrics
    /// The body, if it was kept in memory.
    public let data: Data?

    /// The status of the response.
    public var statusCode: Int { response.statusCode }

    /// The value of a field of the response whatever the case of its name, `nil` when there is none.
    public func value(forHTTPHeaderField name: String) -> String? {
        response.value(forHTTPHeaderField: name)
    }
}

extension Response: CustomStringConvertible {
    /// The status, and the value.
    public var description: String { "\(statusCode) \(value)" }
}

/// A serializer whose object has a type that is known when the program is compiled.
///
/// ```swift
/// let users = try await manager.responses.get("users", with: DecodableResponseSerializer([User].self))
/// ```
public protocol TypedResponseSerializer<Object>: ResponseSerializer {
    /// The type of the object that it makes.
    associatedtype Object: Sendable
}

extension DecodableResponseSerializer: TypedResponseSerializer {
    /// The decoded value.
    public typealias Object = Value
}

extension HTTPResponseSerializer: TypedResponseSerializer {
    /// The body.
    public typealias Object = Data
}

extension StringResponseSerializer: TypedResponseSerializer {
    /// The text.
    public typealias Object = String
}

// MARK: - Operations

extension HTTPRequestOperation {
    /// The result as a value of `type`, once there is one: see ``value``.
    ///
    /// An operation from an archive has it, too, if the serializer is in the archive or was given to
    /// ``init(archive:responseSerializer:)``; without a serializer it is the body, as `Data`.
    ///
    /// - Throws: the operation's `error`; a ``ResponseSerializationError`` when the result is of another
    ///   type, or when the archive has no serializer that could make it.
    public func value<Value: Sendable>(as type: Value.Type) async throws -> Value {
        _ = try await value
        return try result(as: type).get()
    }

    /// The result as a value of `type`, with the response and the cost, once there is one.
    ///
    /// - Throws: as ``value(as:)``.
    public func response<Value: Sendable>(as type: Value.Type) async throws -> Response<Value> {
        try response(with: try await value(as: type))
    }

    /// The value with the response of an operation that has finished.
    func response<Value: Sendable>(with value: Value) throws -> Response<Value> {
        guard let response, let metrics else {
            throw URLError(.badServerResponse, url: request.url, sentence: "There is no response.")
        }
        return Response(value: value, response: response, metrics: metrics, data: responseData)
    }

    /// The result of an operation that has finished.
    func result<Value: Sendable>(as type: Value.Type) -> Result<Value, any Error> {
        if let error { return .failure(error) }
        let lacksSerializer = state.withLock { $0.results.lacksSerializer }
        if lacksSerializer, let body = responseData as? Value { return .success(body) }
        // Not of what the body was decoded as, but of what it is asked for as: `nil` may be one, too.
        guard !lacksSerializer, let value = responseObject as? Value else {
            let sentence =
                lacksSerializer
                ? "its archive has no serializer: see init(archive:responseSerializer:)"
                : "the operation's serializer made something else"
            return .failure(
                ResponseSerializationError(
                    .unexpectedStructure(type: "\(type)", sentence),
                    response: receivedResponse,
                    data: responseData
                )
            )
        }
        return .success(value)
    }
}
