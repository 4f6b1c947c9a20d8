internal import FoundationNetworking

// Forms of several parts, by the three verbs that send a body. As in AFNetworking the closure appends parts
// to a form that begins with the parameters; it is called at once, and what it throws is the error of the
// request.
extension OperationManager {
    // MARK: - POST

    /// Sends a POST request with a form of several parts, and calls back on the completion queue.
    ///
    /// - Parameters:
    ///   - path: relative to the base URL, or a whole URL.
    ///   - parameters: become the first parts.
    ///   - headers: of this request only; they win over the serializer's.
    ///   - constructBody: appends parts; called before this returns.
    ///   - configure: called with the operation before it is in the queue: later it cannot be configured.
    ///   - success: called with the response object.
    ///   - failure: called with the error of the operation, or of making the request.
    /// - Returns: the operation, in its queue; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(configure, success: success, failure: failure) {
            try multipartRequest("POST", path, parameters, headers, constructBody)
        }
    }

    /// Sends a POST request with a form of several parts, and returns the response object. Cancelling the
    /// task cancels the operation; what is thrown is the operation's `error`, or why no request could be
    /// made.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(of: multipartRequest("POST", path, parameters, headers, constructBody), configure)
    }

    // MARK: - PUT

    /// Sends a PUT request with a form of several parts: see
    /// ``post(_:parameters:headers:constructingBody:configure:success:failure:)``.
    @discardableResult
    public func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(configure, success: success, failure: failure) {
            try multipartRequest("PUT", path, parameters, headers, constructBody)
        }
    }

    /// Sends a PUT request with a form of several parts: see
    /// ``post(_:parameters:headers:constructingBody:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(of: multipartRequest("PUT", path, parameters, headers, constructBody), configure)
    }

    // MARK: - PATCH

    /// Sends a PATCH request with a form of several parts: see
    /// ``post(_:parameters:headers:constructingBody:configure:success:failure:)``.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(configure, success: success, failure: failure) {
            try multipartRequest("PATCH", path, parameters, headers, constructBody)
        }
    }

    /// Sends a PATCH request with a form of several parts: see
    /// ``post(_:parameters:headers:constructingBody:configure:)``.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ path: String,
        parameters: [String: Any]? = nil,
        headers: [String: String] = [:],
        constructingBody constructBody: (inout MultipartFormData) throws -> Void,
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(of: multipartRequest("PATCH", path, parameters, headers, constructBody), configure)
    }

    // MARK: - For the verbs

    func multipartRequest(
        _ method: String,
        _ path: String,
        _ parameters: [String: Any]?,
        _ headers: [String: String],
        _ constructBody: (inout MultipartFormData) throws -> Void
    ) throws -> URLRequest {
        try serialized(with: headers) { serializer in
            try serializer.multipartFormRequest(
                method: method,
                url: url(for: path),
                parameters: parameters,
                headers: headers,
                constructingBody: constructBody
            )
        }
    }
}
