public import FoundationNetworking

/// Changes requests before they are sent, and before they wait for a connection: for a signature, a trace
/// header, or a token that ``TokenSource`` does not support.
///
/// ```swift
/// manager.requestAdapters = [
///     ClosureRequestAdapter { request, _ in
///         var request = request
///         request.setValue(try await signer.signature(of: request), forHTTPHeaderField: "X-Signature")
///         return request
///     }
/// ]
/// ```
///
/// Adapters are called in order; each receives the request of the previous one. They are called for the first
/// request, for each retry and resumption, for the answer to a 401, and for redirects within the origin
/// (scheme, host, port) of the request. Redirects to another origin are not adapted, and contain none of the
/// adapters' changes. A resumption may begin with a `HEAD` request, which is adapted as well.
public protocol RequestAdapter: Sendable {
    /// Returns the request to be sent. Called in a task, which is cancelled if the operation is cancelled or
    /// paused.
    ///
    /// - Parameters:
    ///   - request: the request with the serializer's fields, without cookies and credential fields.
    ///   - context: the context of the request.
    /// - Returns: the request with other fields, another path or query, or another body in memory. Any other
    ///   change fails with a ``RequestAdapterError``. The caller's task-local values are not available; use
    ///   `context.userInfo`.
    /// - Throws: any error; it becomes the error of the operation.
    func adapt(_ request: URLRequest, in context: RequestContext) async throws -> URLRequest
}

/// The context of a request that is about to be sent.
public struct RequestContext: Sendable {
    /// The operation's `userInfo`.
    public let userInfo: [String: any Sendable]
    /// 1 for the first request of the operation; incremented for each retry, resumption, redirect and answer
    /// to a 401.
    public let number: Int

    /// Creates a context for tests of an adapter.
    public init(userInfo: [String: any Sendable] = [:], number: Int = 1) {
        self.userInfo = userInfo
        self.number = number
    }
}

/// An adapter that calls a closure.
public struct ClosureRequestAdapter: RequestAdapter {
    private let body: @Sendable (URLRequest, RequestContext) async throws -> URLRequest

    /// - Parameter body: see ``RequestAdapter/adapt(_:in:)``.
    public init(
        @_inheritActorContext _ body:
            @escaping @Sendable (
                _ request: URLRequest, _ context: RequestContext
            ) async throws -> URLRequest
    ) {
        self.body = body
    }

    /// Calls the closure.
    ///
    /// - Parameters:
    ///   - request: the request to be sent.
    ///   - context: the context of the request.
    /// - Returns: the request to be sent.
    /// - Throws: the error of the closure.
    public func adapt(_ request: URLRequest, in context: RequestContext) async throws -> URLRequest {
        try await body(request, context)
    }
}
