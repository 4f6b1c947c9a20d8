// The six verbs, each twice. The parameters of GET, HEAD and DELETE become the query, those of the others the
// body, unless the request serializer does otherwise. The forms that call back have no default for the
// callbacks, so that `try await manager.get("users")` is never ambiguous.
extension OperationManager {
    // MARK: - GET

    /// Sends a GET request and calls back on the completion queue.
    /// - Parameters:
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: become the query.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - configure: called with the operation before it is in the queue: later it cannot be configured.
    ///   - success: called with the response object.
    ///   - failure: called with the error of the operation, or of making the request.
    /// - Returns: the operation, in its queue; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func get(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "GET", path: path, parameters: parameters, headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a GET request and returns the response object. Cancelling the task cancels the operation; what
    /// is thrown is the operation's `error`, or why no request could be made.
    @discardableResult
    public nonisolated(nonsending) func get(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(method: "GET", path: path, parameters: parameters, headers: headers),
            configure
        )
    }

    // MARK: - HEAD

    /// Sends a HEAD request and calls back: see ``get(_:parameters:headers:configure:success:failure:)``.
    @discardableResult
    public func head(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "HEAD", path: path, parameters: parameters, headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a HEAD request and returns the response object: see ``get(_:parameters:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func head(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(method: "HEAD", path: path, parameters: parameters, headers: headers),
            configure
        )
    }

    // MARK: - POST

    /// Sends a POST request, with the parameters as its body (a form unless another request serializer is
    /// set), and calls back: see ``get(_:parameters:headers:configure:success:failure:)``.
    @discardableResult
    public func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "POST", path: path, parameters: parameters, headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a POST request and returns the response object: see ``get(_:parameters:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(method: "POST", path: path, parameters: parameters, headers: headers),
            configure
        )
    }

    // MARK: - PUT

    /// Sends a PUT request, with the parameters as its body (a form unless another request serializer is
    /// set), and calls back: see ``get(_:parameters:headers:configure:success:failure:)``.
    @discardableResult
    public func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "PUT", path: path, parameters: parameters, headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a PUT request and returns the response object: see ``get(_:parameters:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(method: "PUT", path: path, parameters: parameters, headers: headers),
            configure
        )
    }

    // MARK: - PATCH

    /// Sends a PATCH request, with the parameters as its body (a form unless another request serializer is
    /// set), and calls back: see ``get(_:parameters:headers:configure:success:failure:)``.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "PATCH", path: path, parameters: parameters, headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a PATCH request and returns the response object: see ``get(_:parameters:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(method: "PATCH", path: path, parameters: parameters, headers: headers),
            configure
        )
    }

    // MARK: - DELETE

    /// Sends a DELETE request and calls back: see ``get(_:parameters:headers:configure:success:failure:)``.
    @discardableResult
    public func delete(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "DELETE", path: path, parameters: parameters, headers: headers),
            configure,
            success: success,
            failure: failure
        )
    }

    /// Sends a DELETE request and returns the response object: see ``get(_:parameters:headers:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(
            of: Call(method: "DELETE", path: path, parameters: parameters, headers: headers),
            configure
        )
    }
}
