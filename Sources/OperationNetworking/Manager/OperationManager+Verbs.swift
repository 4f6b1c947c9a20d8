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
    ///   - success: called with the response object.
    ///   - failure: called with the error of the operation, or of making the request.
    /// - Returns: the operation, in its queue; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func get(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        success: HTTPRequestOperation.SuccessHandler?,
        failure: FailureHandler?
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "GET", path: path, parameters: parameters, headers: headers),
            success: success,
            failure: failure
        )
    }

    /// Sends a GET request and returns the response object. Cancelling the task cancels the operation; what
    /// is thrown is the operation's `error`, or why no request could be made.
    @discardableResult
    public func get(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await result(of: Call(method: "GET", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - HEAD

    /// Sends a HEAD request and calls back: see ``get(_:parameters:headers:success:failure:)``.
    @discardableResult
    public func head(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        success: HTTPRequestOperation.SuccessHandler?,
        failure: FailureHandler?
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "HEAD", path: path, parameters: parameters, headers: headers),
            success: success,
            failure: failure
        )
    }

    /// Sends a HEAD request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public func head(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await result(of: Call(method: "HEAD", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - POST

    /// Sends a POST request, its parameters as the form body, and calls back: else as
    /// ``get(_:parameters:headers:success:failure:)``.
    @discardableResult
    public func post(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        success: HTTPRequestOperation.SuccessHandler?,
        failure: FailureHandler?
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "POST", path: path, parameters: parameters, headers: headers),
            success: success,
            failure: failure
        )
    }

    /// Sends a POST request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public func post(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await result(of: Call(method: "POST", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - PUT

    /// Sends a PUT request, its parameters as the form body, and calls back: else as
    /// ``get(_:parameters:headers:success:failure:)``.
    @discardableResult
    public func put(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        success: HTTPRequestOperation.SuccessHandler?,
        failure: FailureHandler?
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "PUT", path: path, parameters: parameters, headers: headers),
            success: success,
            failure: failure
        )
    }

    /// Sends a PUT request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public func put(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await result(of: Call(method: "PUT", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - PATCH

    /// Sends a PATCH request, its parameters as the form body, and calls back: else as
    /// ``get(_:parameters:headers:success:failure:)``.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        success: HTTPRequestOperation.SuccessHandler?,
        failure: FailureHandler?
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "PATCH", path: path, parameters: parameters, headers: headers),
            success: success,
            failure: failure
        )
    }

    /// Sends a PATCH request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await result(of: Call(method: "PATCH", path: path, parameters: parameters, headers: headers))
    }

    // MARK: - DELETE

    /// Sends a DELETE request and calls back: see ``get(_:parameters:headers:success:failure:)``.
    @discardableResult
    public func delete(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:],
        success: HTTPRequestOperation.SuccessHandler?,
        failure: FailureHandler?
    ) -> HTTPRequestOperation? {
        enqueue(
            Call(method: "DELETE", path: path, parameters: parameters, headers: headers),
            success: success,
            failure: failure
        )
    }

    /// Sends a DELETE request and returns the response object: see ``get(_:parameters:headers:)``.
    @discardableResult
    public func delete(
        _ path: String,
        parameters: [String: any Sendable]? = nil,
        headers: [String: String] = [:]
    ) async throws -> (any Sendable)? {
        try await result(of: Call(method: "DELETE", path: path, parameters: parameters, headers: headers))
    }
}
