internal import Foundation
internal import FoundationNetworking

// The verbs that call back with a value of a type.
extension OperationManager {
    /// Called with the value that the response was decoded as.
    public typealias ValueHandler<Value> = @isolated(any) @Sendable (HTTPRequestOperation, Value) -> Void

    // MARK: - GET

    /// Sends a GET request and calls back with the response as a value of `type`.
    ///
    /// - Parameters:
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: as for the verb without a type.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - type: the type of the value, decoded by a decoder of ``makeJSONDecoder``.
    ///   - configure: called with the operation before it is in the queue.
    ///   - success: called with the value.
    ///   - failure: called with the error of the operation, or of making the request.
    /// - Returns: the operation, in its queue; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "GET", path: path, parameters: parameters, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    /// Sends a GET request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "GET", path: path, parameters: value, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    // MARK: - POST

    /// Sends a POST request and calls back: see ``get(_:parameters:headers:as:configure:success:failure:)``.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    /// Sends a POST request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "POST", path: path, parameters: value, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    // MARK: - PUT

    /// Sends a PUT request and calls back: see ``get(_:parameters:headers:as:configure:success:failure:)``.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    /// Sends a PUT request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "PUT", path: path, parameters: value, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    // MARK: - PATCH

    /// Sends a PATCH request and calls back: see ``get(_:parameters:headers:as:configure:success:failure:)``.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    /// Sends a PATCH request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "PATCH", path: path, parameters: value, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    // MARK: - DELETE

    /// Sends a DELETE request and calls back: see
    /// ``get(_:parameters:headers:as:configure:success:failure:)``.
    @discardableResult
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "DELETE", path: path, parameters: parameters, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    /// Sends a DELETE request with an encoded value, and calls back: else as the verb with `parameters:`.
    @discardableResult
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        encoding value: some Encodable & Sendable,
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "DELETE", path: path, parameters: value, headers: headers)
        return enqueue(call, as: type, configure, success: success, failure: failure)
    }

    // MARK: - For the verbs

    private func enqueue<Value: Decodable & Sendable>(
        _ call: Call,
        as type: Value.Type,
        _ configure: (HTTPRequestOperation) throws -> Void,
        success: ValueHandler<Value>?,
        failure: FailureHandler?
    ) -> HTTPRequestOperation? {
        enqueue(as: type, configure, success: success, failure: failure) { try request(for: call) }
    }

    func enqueue<Value: Decodable & Sendable>(
        as type: Value.Type,
        _ configure: (HTTPRequestOperation) throws -> Void,
        success: ValueHandler<Value>?,
        failure: FailureHandler?,
        _ makeRequest: () throws -> URLRequest
    ) -> HTTPRequestOperation? {
        do {
            let operation = operation(for: try makeRequest())
            operation.responseSerializer = decodableSerializer(for: type)
            try configure(operation)
            operation.setCompletion { operation in
                switch operation.result(as: type) {
                case .success(let value): success.map { Detour($0, operation, value) }
                case .failure(let error): failure.map { Detour($0, operation, error) }
                }
            }
            add(operation)
            return operation
        } catch {
            if let failure { callBack(Detour(failure, nil, error)) }
            return nil
        }
    }
}
