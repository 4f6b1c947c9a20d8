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
        // Not by `swap`: in a generic function a closure is wrapped, which allocates.
        taken.success = closures.success
        taken.failure = closures.failure
        (closures.success, closures.failure) = (nil, nil)
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
