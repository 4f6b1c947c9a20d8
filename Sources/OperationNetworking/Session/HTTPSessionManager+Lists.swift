internal import Foundation

// A list as the parameters of a request: see the same verbs of ``OperationManager``.
extension HTTPSessionManager {
    // MARK: - POST

    /// Sends a POST request with a list, and calls back: else as the verb with a dictionary.
    @discardableResult
    public func post(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return resumed(call, uploadProgress: progress, success, failure)
    }

    /// Sends a POST request with a list, and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(of: Call(method: "POST", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a POST request with a list, and calls back with the response as a value of `type`: else as the
    /// verb without a type.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return resumed(call, as: type, uploadProgress: progress, success, failure)
    }

    /// Sends a POST request with a list, and returns the response as a value of `type`.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        let call = Call(method: "POST", path: path, parameters: parameters, headers: headers)
        return try await value(of: call, as: type)
    }

    // MARK: - PUT

    /// Sends a PUT request with a list, and calls back: else as the verb with a dictionary.
    @discardableResult
    public func put(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return resumed(call, uploadProgress: progress, success, failure)
    }

    /// Sends a PUT request with a list, and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(of: Call(method: "PUT", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a PUT request with a list, and calls back with the response as a value of `type`: else as the
    /// verb without a type.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return resumed(call, as: type, uploadProgress: progress, success, failure)
    }

    /// Sends a PUT request with a list, and returns the response as a value of `type`.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        let call = Call(method: "PUT", path: path, parameters: parameters, headers: headers)
        return try await value(of: call, as: type)
    }

    // MARK: - PATCH

    /// Sends a PATCH request with a list, and calls back: else as the verb with a dictionary.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return resumed(call, uploadProgress: progress, success, failure)
    }

    /// Sends a PATCH request with a list, and returns the response object.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(of: Call(method: "PATCH", path: path, parameters: parameters, headers: headers))
    }

    /// Sends a PATCH request with a list, and calls back with the response as a value of `type`: else as the
    /// verb without a type.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type,
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: ValueHandler<Value>?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return resumed(call, as: type, uploadProgress: progress, success, failure)
    }

    /// Sends a PATCH request with a list, and returns the response as a value of `type`.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: [Any],
        headers: [String: String] = [:],
        as type: Value.Type
    ) async throws -> Value {
        let call = Call(method: "PATCH", path: path, parameters: parameters, headers: headers)
        return try await value(of: call, as: type)
    }
}
