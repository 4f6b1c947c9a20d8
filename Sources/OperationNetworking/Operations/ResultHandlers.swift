internal import OperationNetworkingSystem

/// The use that an ``HTTPRequestOperation`` makes of its response: behind the lock of its state, with which
/// it looks for an audience.
struct ResultHandlers {
    var serializer: any ResponseSerializer = HTTPResponseSerializer()
    var success: HTTPRequestOperation.SuccessHandler?
    var failure: HTTPRequestOperation.FailureHandler?
    /// Makes the call of another closure, after these two.
    @Rare var completion: (@Sendable (HTTPRequestOperation) -> Detour?)?
    /// Whether closures were called.
    private var hasCalled = false

    /// Whether a closure hears the result.
    var hearResult: Bool { success != nil || failure != nil || completion != nil }

    /// Takes the closures out, to be called.
    mutating func takeClosures() -> ResultHandlers {
        hasCalled = hasCalled || hearResult
        return removeClosures()
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
