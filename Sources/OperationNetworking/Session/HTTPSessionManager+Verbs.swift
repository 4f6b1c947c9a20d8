internal import Foundation

// The six verbs, each twice: a form that calls back, and one that waits. As in AFNetworking 3, GET tells the
// progress of its response, and the verbs with a body that of sending it. The forms that call back have no
// default for the callbacks, so that `try await session.get("users")` is never ambiguous.
extension HTTPSessionManager {
    // MARK: - GET

    /// Sends a GET request and calls back on the completion queue.
    /// - Parameters:
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: become the query.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - progress: hears the task's `downloadProgress`.
    ///   - success: called with the response object.
    ///   - failure: called with the error of the task, or of making the request.
    /// - Returns: the task, resumed; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func get(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "GET", path: path, parameters: parameters, headers: headers),
            downloadProgress: progress,
            success,
            failure
        )
    }

    /// Sends a GET request and returns the response object. Cancelling the Swift task cancels the session's;
    /// what is thrown is the task's `error`, or why no request could be made. Needs no completion queue.
    @discardableResult
    public nonisolated(nonsending) func get(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(of: Call(method: "GET", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - HEAD

    /// Sends a HEAD request and calls back, without progress: see
    /// ``get(_:parameters:headers:progress:success:failure:)``.
    @discardableResult
    public func head(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(Call(method: "HEAD", path: path, parameters: parameters, headers: headers), success, failure)
    }

    /// Sends a HEAD request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func head(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(of: Call(method: "HEAD", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - POST

    /// Sends a POST request and calls back. The parameters become the body; `progress` hears the task's
    /// `uploadProgress`. Else as ``get(_:parameters:headers:progress:success:failure:)``.
    @discardableResult
    public func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "POST", path: path, parameters: parameters, headers: headers),
            uploadProgress: progress,
            success,
            failure
        )
    }

    /// Sends a POST request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(of: Call(method: "POST", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - PUT

    /// Sends a PUT request and calls back: see that of POST.
    @discardableResult
    public func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "PUT", path: path, parameters: parameters, headers: headers),
            uploadProgress: progress,
            success,
            failure
        )
    }

    /// Sends a PUT request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(of: Call(method: "PUT", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - PATCH

    /// Sends a PATCH request and calls back: see that of POST.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        @_inheritActorContext progress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "PATCH", path: path, parameters: parameters, headers: headers),
            uploadProgress: progress,
            success,
            failure
        )
    }

    /// Sends a PATCH request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(of: Call(method: "PATCH", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - DELETE

    /// Sends a DELETE request and calls back, without progress: see
    /// ``get(_:parameters:headers:progress:success:failure:)``.
    @discardableResult
    public func delete(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        @_inheritActorContext success: SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> DataTask? {
        resumed(
            Call(method: "DELETE", path: path, parameters: parameters, headers: headers),
            success,
            failure
        )
    }

    /// Sends a DELETE request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await outcome(of: Call(method: "DELETE", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - For the verbs

    func resumed(
        _ call: Call,
        @_inheritActorContext uploadProgress: SessionTask.ProgressHandler? = nil,
        @_inheritActorContext downloadProgress: SessionTask.ProgressHandler? = nil,
        _ success: SuccessHandler?,
        _ failure: FailureHandler?
    ) -> DataTask? {
        let task = dataTask(call, uploadProgress, downloadProgress, success, failure)
        task?.resume()
        return task
    }

    nonisolated(nonsending) func outcome(of call: Call) async throws -> (any Sendable)? {
        let task = makeDataTask(try core.operations.request(for: call), TaskDelegate.Closures())
        task.resume()
        return try await task.outcome
    }
}
