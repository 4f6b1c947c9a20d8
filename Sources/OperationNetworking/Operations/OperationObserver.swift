public import FoundationNetworking

/// An observer of operations: the one outlet of life-cycle events. Notifications stand on it, and so can
/// logging or metrics. It is added to one operation (``ConnectionOperation/addObserver(_:)``), or to a
/// manager for all operations that this makes (``OperationManager/addObserver(_:)``).
///
/// Every method is called on the operation's `completionQueue`, one at a time for each operation and in
/// order. Each has an implementation that does nothing.
///
/// Start, pause, resume and finish come in pairs: a counter of running operations adds one for *did start*
/// and *did resume*, and subtracts one for *did pause* and for *did finish* with `wasRunning`.
public protocol OperationObserver: AnyObject, Sendable {
    /// The first transfer of the operation begins.
    func operationDidStart(_ operation: ConnectionOperation)

    /// The running transfer was stopped by `pause()`.
    func operationDidPause(_ operation: ConnectionOperation)

    /// A paused operation goes on.
    func operationDidResume(_ operation: ConnectionOperation)

    /// The head of a response that is not a redirect to be followed came.
    func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse)

    /// Bytes of the body came: how many since the last call, how many altogether, and how many are expected,
    /// -1 if that is unknown. As ``ConnectionOperation/setDownloadProgress(_:)``, and before it.
    func operation(
        _ operation: ConnectionOperation,
        didDownload bytes: Int,
        total: Int64,
        expected: Int64
    )

    /// The same of bytes of the request's body that went.
    func operation(_ operation: ConnectionOperation, didUpload bytes: Int, total: Int64, expected: Int64)

    /// A redirect is followed.
    func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    )

    /// Bytes of an earlier attempt, or of an earlier process, are kept: the body goes on after `offset`
    /// bytes.
    func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64)

    /// Bytes of an earlier attempt, or of an earlier process, are thrown away.
    func operation(_ operation: ConnectionOperation, willStartOverBecause reason: RestartReason)

    /// An attempt failed, and the operation's ``TransferConfigurable/retryPolicy`` has another one begin after
    /// a delay; or one waits because its server told another operation to come back later.
    func operation(_ operation: ConnectionOperation, willRetry retry: Retry)

    /// The operation has finished: its results are final. It was not running when it ended without a
    /// transfer: cancelled before it started, or while it was paused.
    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool)
}

extension OperationObserver {
    /// Does nothing.
    public func operationDidStart(_ operation: ConnectionOperation) {}
    /// Does nothing.
    public func operationDidPause(_ operation: ConnectionOperation) {}
    /// Does nothing.
    public func operationDidResume(_ operation: ConnectionOperation) {}
    /// Does nothing.
    public func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {}
    /// Does nothing.
    public func operation(
        _ operation: ConnectionOperation,
        didDownload bytes: Int,
        total: Int64,
        expected: Int64
    ) {}
    /// Does nothing.
    public func operation(
        _ operation: ConnectionOperation,
        didUpload bytes: Int,
        total: Int64,
        expected: Int64
    ) {}
    /// Does nothing.
    public func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    ) {}
    /// Does nothing.
    public func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64) {}
    /// Does nothing.
    public func operation(_ operation: ConnectionOperation, willStartOverBecause reason: RestartReason) {}
    /// Does nothing.
    public func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {}
    /// Does nothing.
    public func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {}
}
