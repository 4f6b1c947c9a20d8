internal import FoundationNetworking

// Bodies that are sent as they are: files, data, streams.
extension OperationManager {
    /// Sends a body as it is, and calls back on the completion queue.
    ///
    /// - Parameters:
    ///   - body: a file, data or a stream; see ``BodySource``.
    ///   - path: relative to the base URL, or a whole URL.
    ///   - method: POST unless something else is said.
    ///   - headers: of this request only. Without a `Content-Type` the request has the type that the file's
    ///     extension stands for, else `application/octet-stream`.
    ///   - configure: called with the operation before it is in the queue: later it cannot be configured.
    ///   - success: called with the response object.
    ///   - failure: called with the error of the operation, or of making the request.
    /// - Returns: the operation, in its queue; `nil` when no request could be made: see `failure`.
    @discardableResult
    public func upload(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in },
        @_inheritActorContext success: HTTPRequestOperation.SuccessHandler?,
        @_inheritActorContext failure: FailureHandler? = nil
    ) -> HTTPRequestOperation? {
        enqueue(configure, success: success, failure: failure) {
            try uploadRequest(body, path: path, method: method, headers: headers)
        }
    }

    /// Sends a body as it is, and returns the response object. Cancelling the task cancels the operation;
    /// what is thrown is the operation's `error`, or why no request could be made.
    @discardableResult
    public nonisolated(nonsending) func upload(
        _ body: BodySource,
        to path: String,
        method: String = "POST",
        headers: [String: String] = [:],
        configure: (HTTPRequestOperation) throws -> Void = { _ in }
    ) async throws -> (any Sendable)? {
        try await result(of: uploadRequest(body, path: path, method: method, headers: headers), configure)
    }

    // MARK: - Private

    func uploadRequest(
        _ body: BodySource,
        path: String,
        method: String,
        headers: [String: String]
    ) throws -> URLRequest {
        guard !["GET", "HEAD"].contains(method.uppercased()) else {
            throw RequestBodyError.methodWithoutBody(method)
        }
        var request = try serialized(with: headers) { serializer in
            try serializer.request(method: method, url: url(for: path), parameters: nil, headers: headers)
        }
        if !headers.keys.contains(where: { $0.isEqualIgnoringASCIICase(to: "Content-Type") }) {
            // The serializer's own is about parameters, of which there are none.
            try RequestSerializationError.check(name: "Content-Type", value: body.mediaType)
            request.setValue(body.mediaType, forHTTPHeaderField: "Content-Type")
        }
        request.bodySource = body
        return request
    }
}
