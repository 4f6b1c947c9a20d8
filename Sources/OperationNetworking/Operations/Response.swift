public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A result together with its response.
///
/// ```swift
/// let page = try await manager.response("GET", "users", as: [User].self)
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

    /// Returns the value of a field of the response, `nil` if there is none. The name is case-insensitive.
    public func value(forHTTPHeaderField name: String) -> String? {
        response.value(forHTTPHeaderField: name)
    }
}

extension Response: CustomStringConvertible {
    /// The status and the value.
    public var description: String { "\(statusCode) \(value)" }
}

/// A serializer whose object has a type that is known at compile time.
///
/// ```swift
/// let users = try await manager.response("GET", "users", with: DecodableResponseSerializer([User].self))
/// ```
public protocol TypedResponseSerializer<Object>: ResponseSerializer {
    /// The type of the object that the serializer makes.
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
    /// Waits for the result and returns it as a `type`: see ``value``.
    ///
    /// This also works for an operation from an archive if the serializer is in the archive or was passed to
    /// ``init(archive:responseSerializer:)``; without a serializer the result is the body, as `Data`.
    ///
    /// - Throws: the operation's `error`; a ``ResponseSerializationError`` if the result has another type, or
    ///   if the archive has no serializer that could make it. The error is the caller's mistake
    ///   (``RequestFailure/isProgrammingError``) if the serializer never makes such a value, whatever the
    ///   server sends.
    public func value<Value: Sendable>(as type: Value.Type) async throws -> Value {
        _ = try await value
        return try result(as: type).get()
    }

    /// Waits for the result and returns it as a `type`, with the response and the metrics.
    ///
    /// - Throws: as ``value(as:)``.
    public func response<Value: Sendable>(as type: Value.Type) async throws -> Response<Value> {
        try response(with: try await value(as: type))
    }

    /// Combines the value with the response of a finished operation.
    func response<Value: Sendable>(with value: Value) throws -> Response<Value> {
        guard let response, let metrics else {
            throw URLError(.badServerResponse, url: request.url, sentence: "No response was received.")
        }
        return Response(value: value, response: response, metrics: metrics, data: responseData)
    }

    /// The result of a finished operation.
    func result<Value: Sendable>(as type: Value.Type) -> Result<Value, any Error> {
        if let error { return .failure(error) }
        let lacksSerializer = state.withLock { $0.results.lacksSerializer }
        if lacksSerializer, let body = responseData as? Value { return .success(body) }
        // Casts to the requested type, not the decoded one: `nil` may be a value of it, too.
        guard !lacksSerializer, let value = responseObject as? Value else {
            var error = ResponseSerializationError(
                .unexpectedStructure(type: "\(type)", objectSentence(lacksSerializer: lacksSerializer)),
                response: receivedResponse,
                data: responseData
            )
            let isElsewhere = responseObject == nil && responseData == nil
            error.isProgrammingError =
                lacksSerializer || isElsewhere || !responseSerializer.mayMake(type, not: responseObject)
            return .failure(error)
        }
        return .success(value)
    }

    /// Describes an object that does not have the requested type, as part of a sentence.
    private func objectSentence(lacksSerializer: Bool) -> String {
        if lacksSerializer { return "its archive has no serializer: see init(archive:responseSerializer:)" }
        let serializer = Swift.type(of: responseSerializer)
        guard let responseObject else {
            return responseData == nil
                ? "the body went to a file or a stream" : "\(serializer) returned nil"
        }
        return "\(serializer) made a \(Swift.type(of: responseObject))"
    }
}

extension ResponseSerializer {
    /// Whether another response could give a value of `type`, although this one gave `object`.
    fileprivate func mayMake(_ type: Any.Type, not object: (any Sendable)?) -> Bool {
        guard object != nil else { return true }
        if self is any TypedResponseSerializer { return false }
        guard self is JSONResponseSerializer || self is PropertyListResponseSerializer else { return true }
        // A tree has text, numbers, dates, data, arrays and dictionaries, but never the program's own types.
        return type is any Collection.Type || type is any LosslessStringConvertible.Type
            || type is any ExpressibleByNilLiteral.Type || type is AnyClass || type == Date.self
    }
}
