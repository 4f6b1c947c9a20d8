internal import OperationNetworkingSystem

/// The use that an ``HTTPRequestOperation`` makes of its response: behind the lock of its state, with which
/// it looks for an audience.
struct ResultHandlers {
    var serializer: any ResponseSerializer = HTTPResponseSerializer()
    var success: HTTPRequestOperation.SuccessHandler?
    var failure: HTTPRequestOperation.FailureHandler?
    /// Makes the call of another closure, after these two.
    @Rare var completion: (@Sendable (HTTPRequestOperation) -> Callback?)?
    /// Whether closures were called.
    private var hasCalled = false

    /// Whether a closure hears the result.
    var hearResult: Bool { success != nil || failure != nil || completion != nil }

    /// Takes the closures for success and failure out, to be called.
    mutating func takeResult() -> ResultHandlers {
        hasCalled = hasCalled || hearResult
        defer { (success, failure) = (nil, nil) }
        return self
    }

    /// Takes the closure that follows them out, to be called.
    mutating func takeCompletion() -> (@Sendable (HTTPRequestOperation) -> Callback?)? {
        defer { completion = nil }
        return completion
    }

    /// Takes the closures away, unless they were called or are being called.
    mutating func withdraw() -> ResultHandlers? {
        hasCalled ? nil : removeClosures()
    }

    private mutating func removeClosures() -> ResultHandlers {
        defer { (success, failure, completion) = (nil, nil, nil) }
        return self
    }
}
