public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A result with the response that it came in.
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
/// let users = try await manager.response("GET", "users", with: DecodableResponseSerializer([User].self))
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
    ///   type, or when the archive has no serializer that could make it. It is the caller's mistake
    ///   (``RequestFailure/isCallersMistake``) when the serializer never makes such a value, whatever the
    ///   server sends.
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
            var error = ResponseSerializationError(
                .unexpectedStructure(type: "\(type)", objectSentence(lacksSerializer: lacksSerializer)),
                response: receivedResponse,
                data: responseData
            )
            let isElsewhere = responseObject == nil && responseData == nil
            error.isCallersMistake =
                lacksSerializer || isElsewhere || !responseSerializer.mayMake(type, not: responseObject)
            return .failure(error)
        }
        return .success(value)
    }

    /// The object that is no value of the type that was asked for, as a part of a sentence.
    private func objectSentence(lacksSerializer: Bool) -> String {
        if lacksSerializer { return "its archive has no serializer: see init(archive:responseSerializer:)" }
        let serializer = Swift.type(of: responseSerializer)
        guard let responseObject else {
            return responseData == nil
                ? "the body went to a file or a stream" : "\(serializer) made nothing of it"
        }
        return "\(serializer) made a \(Swift.type(of: responseObject))"
    }
}

extension ResponseSerializer {
    /// Whether another response may give a value of `type`, when this one gave `object`, which is none.
    fileprivate func mayMake(_ type: Any.Type, not object: (any Sendable)?) -> Bool {
        guard object != nil else { return true }
        if self is any TypedResponseSerializer { return false }
        guard self is JSONResponseSerializer || self is PropertyListResponseSerializer else { return true }
        // A tree has text, numbers, dates, data, lists and dictionaries, and never a type of the program.
        return type is any Collection.Type || type is any LosslessStringConvertible.Type
            || type is any ExpressibleByNilLiteral.Type || type is AnyClass || type == Date.self
    }
}
