public import FoundationNetworking

/// An observer of the life-cycle events of operations. The library's notifications are built on it, and
/// logging or metrics can be. Add it to one operation (``ConnectionOperation/addObserver(_:)``), or to a
/// manager for all operations that the manager makes (``OperationManager/addObserver(_:)``).
///
/// ```swift
/// nonisolated final class Stopwatch: OperationObserver {
///     func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {
///         print("again in \(retry.delay) seconds")
///     }
///
///     func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
///         for transfer in operation.metricsOfEachTransfer { print(transfer.url as Any, transfer.transferTime) }
///     }
/// }
/// ```
///
/// Every method is called on the operation's `completionQueue`, one at a time for each operation and in
/// order. Each has a default implementation that does nothing.
///
/// Start, pause, resume and finish are balanced: a counter of running operations adds one for *did start* and
/// *did resume*, and subtracts one for *did pause* and for *did finish* with `wasRunning`.
public protocol OperationObserver: AnyObject, Sendable {
    /// The first transfer of the operation begins.
    func operationDidStart(_ operation: ConnectionOperation)

    /// The running transfer was stopped by `pause()`.
    func operationDidPause(_ operation: ConnectionOperation)

    /// A paused operation has resumed.
    func operationDidResume(_ operation: ConnectionOperation)

    /// The head of a response arrived that is not a redirect to be followed.
    func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse)

    /// Bytes of the body arrived: the number since the last call, the total, and the number expected, or -1
    /// if unknown. As ``ConnectionOperation/setDownloadProgress(_:)``, and before it.
    func operation(
        _ operation: ConnectionOperation,
        didDownload bytes: Int,
        total: Int64,
        expected: Int64
    )

    /// Bytes of the request's body were sent; the parameters are those of the download.
    func operation(_ operation: ConnectionOperation, didUpload bytes: Int, total: Int64, expected: Int64)

    /// A redirect is followed.
    func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    )

    /// Bytes of an earlier attempt, or of an earlier process, are kept: the body continues after `offset`
    /// bytes.
    func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64)

    /// Bytes of an earlier attempt, or of an earlier process, are discarded.
    func operation(_ operation: ConnectionOperation, willStartOverBecause reason: RestartReason)

    /// An attempt failed and, by the operation's ``TransferConfigurable/retryPolicy``, another one begins
    /// after a delay; or an attempt waits because its server asked another operation to retry later.
    func operation(_ operation: ConnectionOperation, willRetry retry: Retry)

    /// The operation has finished: its results are final. `wasRunning` is `false` if it ended without a
    /// running transfer: cancelled before it started, or while it was paused.
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
