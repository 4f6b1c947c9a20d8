internal import Foundation

// A list as the parameters of a request: a body that is a JSON array, mostly. A form has names, so an
// ``HTTPRequestSerializer`` refuses a list; a ``JSONRequestSerializer`` and a property list take it.
extension OperationManager {
    // MARK: - POST

    /// Sends a POST request with a list, and calls back: else as the verb with a dictionary.
    @discardableResult
    public func post(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return enqueue(call, configure, success: success, failure: failure)
    }

    /// Sends a POST request with a list, and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await result(of: call, configure)
    }

    /// Sends a POST request with a list, and returns the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await value(of: call, as: type, configure)
    }

    // MARK: - PUT

    /// Sends a PUT request with a list, and calls back: else as the verb with a dictionary.
    @discardableResult
    public func put(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return enqueue(call, configure, success: success, failure: failure)
    }

    /// Sends a PUT request with a list, and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await result(of: call, configure)
    }

    /// Sends a PUT request with a list, and returns the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await value(of: call, as: type, configure)
    }

    // MARK: - PATCH

    /// Sends a PATCH request with a list, and calls back: else as the verb with a dictionary.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return enqueue(call, configure, success: success, failure: failure)
    }

    /// Sends a PATCH request with a list, and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await result(of: call, configure)
    }

    /// Sends a PATCH request with a list, and returns the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> Value {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await value(of: call, as: type, configure)
    }
}
