internal import OperationNetworkingSystem

/// The serializer and completion handlers of an ``HTTPRequestOperation``. Protected by the lock of its state,
/// under which the operation determines its audience.
struct ResultHandlers {
    var serializer: any ResponseSerializer = HTTPResponseSerializer()
    var success: HTTPRequestOperation.SuccessHandler?
    var failure: HTTPRequestOperation.FailureHandler?
    /// Makes the callback of another closure, after these two.
    @Rare var completion: (@Sendable (HTTPRequestOperation) -> Callback?)?
    /// Whether closures were called.
    private var hasCalled = false

    /// Whether there is a closure that receives the result.
    var hasClosures: Bool { success != nil || failure != nil || completion != nil }

    /// Takes the closures for success and failure, which the caller then calls.
    mutating func takeResult() -> ResultHandlers {
        hasCalled = hasCalled || hasClosures
        defer { (success, failure) = (nil, nil) }
        return self
    }

    /// Takes the closure that follows them, which the caller then calls.
    mutating func takeCompletion() -> (@Sendable (HTTPRequestOperation) -> Callback?)? {
        defer { completion = nil }
        return completion
    }

    /// Removes the closures, unless they were called or are being called.
    mutating func withdraw() -> ResultHandlers? {
        hasCalled ? nil : removeClosures()
    }

    private mutating func removeClosures() -> ResultHandlers {
        defer { (success, failure, completion) = (nil, nil, nil) }
        return self
    }
}
