internal import OperationNetworkingSystem

/// The serializer and completion handlers of an ``HTTPRequestOperation``. Protected by the lock of its state,
/// under which the operation determines its audience.
struct ResultHandlers {
    var serializer: any ResponseSerializer = HTTPResponseSerializer()
    /// Set by ``HTTPRequestOperation/setCompletion(success:failure:)``.
    var closures = Closures()
    /// Whether closures were called.
    private var hasCalled = false

    struct Closures {
        var success: HTTPRequestOperation.SuccessHandler?
        var failure: HTTPRequestOperation.FailureHandler?
        /// Makes the callback of another closure, after these two.
        @Rare var completion: (@Sendable (HTTPRequestOperation) -> Callback?)?
    }

    /// Whether there is a closure that receives the result.
    var hasClosures: Bool {
        closures.success != nil || closures.failure != nil || closures.completion != nil
    }

    /// Takes the closures for success and failure, which the caller then calls.
    mutating func takeResult() -> Closures {
        hasCalled = hasCalled || hasClosures
        var taken = Closures()
        swap(&taken.success, &closures.success)
        swap(&taken.failure, &closures.failure)
        return taken
    }

    /// Takes the closure that follows them, which the caller then calls.
    mutating func takeCompletion() -> (@Sendable (HTTPRequestOperation) -> Callback?)? {
        defer { closures.completion = nil }
        return closures.completion
    }

    /// Removes the closures, unless they were called or are being called.
    mutating func withdraw() -> Closures? {
        guard !hasCalled else { return nil }
        defer { closures = Closures() }
        return closures
    }
}

// MARK: - Calls

extension ResultHandlers {
    /// Calls a success handler if it may run on this queue, the completion queue. As ``Callback/here(_:_:)``, but
    /// without generic parameters, which cost four allocations for each operation.
    /// - Returns: `nil`, or the callback that has to run on another executor.
    static func callHere(
        _ handler: @escaping HTTPRequestOperation.SuccessHandler,
        _ operation: HTTPRequestOperation,
        _ object: (any Sendable)?
    ) -> Callback? {
        guard Callback.isHere(handler.isolation) else { return Callback(handler, operation, object) }
        unsafe unsafeBitCast(IsolatedSuccess(call: handler), to: PlainSuccess.self).call(operation, object)
        return nil
    }

    // `callAssumingIsolation(of:_:)` says why both have the same representation.

    private struct IsolatedSuccess {
        let call: HTTPRequestOperation.SuccessHandler
    }

    private struct PlainSuccess {
        let call: @Sendable (HTTPRequestOperation, (any Sendable)?) -> Void
    }
}
