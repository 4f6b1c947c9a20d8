public import FoundationNetworking

/// Changes requests before they are sent, and before they wait for a connection: a signature, a header for
/// traces, a token of another kind than ``TokenSource`` knows.
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
/// Adapters are asked in order, each gets the request of the one before. They are asked for the request
/// itself, for each attempt and resumption, for the answer to a 401, and for a redirect within the origin
/// (scheme, host, port) of the request; a redirect to another origin is not adapted, and carries nothing of
/// theirs. A resumption may ask for the head first: the request that they get is that `HEAD` then.
public protocol RequestAdapter: Sendable {
    /// The request to be sent. Called by a task; the operation waits meanwhile, and the task is cancelled
    /// when the operation is cancelled or paused.
    ///
    /// - Parameters:
    ///   - request: with the fields of the serializer, without cookies and without the fields of credentials.
    ///   - context: whose request it is.
    /// - Returns: the request with other fields, another path or query, or another body in memory. A change
    ///   that is not allowed is a ``RequestAdapterError``. Task-local values of the caller are not there;
    ///   what is in `context.userInfo` is.
    /// - Throws: anything: it becomes the error of the operation.
    func adapt(_ request: URLRequest, in context: RequestContext) async throws -> URLRequest
}

/// The place of a request that is about to be sent.
public struct RequestContext: Sendable {
    /// That of the operation.
    public let userInfo: [String: any Sendable]
    /// 1 for the first request of the operation, and one more for each attempt, resumption, redirect and
    /// answer to a 401.
    public let number: Int

    /// A context, for tests of an adapter.
    public init(userInfo: [String: any Sendable] = [:], number: Int = 1) {
        self.userInfo = userInfo
        self.number = number
    }
}

/// An adapter made of a closure.
public struct ClosureRequestAdapter: RequestAdapter {
    private let body: @Sendable (URLRequest, RequestContext) async throws -> URLRequest

    /// - Parameter body: as ``RequestAdapter/adapt(_:in:)``.
    public init(
        @_inheritActorContext _ body:
            @escaping @Sendable (
                _ request: URLRequest, _ context: RequestContext
            ) async throws -> URLRequest
    ) {
        self.body = body
    }

    /// The answer of the closure.
    ///
    /// - Parameters:
    ///   - request: to be sent.
    ///   - context: whose request it is.
    /// - Returns: the request to be sent.
    /// - Throws: what the closure throws.
    public func adapt(_ request: URLRequest, in context: RequestContext) async throws -> URLRequest {
        try await body(request, context)
    }
}
