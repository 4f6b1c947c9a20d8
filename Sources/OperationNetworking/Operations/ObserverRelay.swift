import FoundationNetworking
internal import OperationNetworkingSystem

/// The entry of one observer in the lists of many operations: forwards the events of each of them.
///
/// ``end()`` reaches all of these operations in one step. They keep the relay until they have finished, but
/// no longer the observer.
final class ObserverRelay: OperationObserver {
    /// The observer's identity. Another object may have the same one after the observer is released.
    private let identity: ObjectIdentifier
    /// `nil` after ``end()``.
    private let observer: Locked<(any OperationObserver)?>

    init(to observer: any OperationObserver) {
        identity = ObjectIdentifier(observer)
        self.observer = Locked(observer)
    }

    /// Returns another relay to the same observer; `nil` after ``end()``.
    func copied() -> ObserverRelay? {
        target.map { ObserverRelay(to: $0) }
    }

    /// Stops forwarding and releases the observer. An event that is already being delivered still reaches it.
    func end() {
        let released = observer.withLock { observer in
            defer { observer = nil }
            return observer
        }
        (released as? any RunCounter)?.reconsiderAll()
    }

    /// Whether the relay was made for `observer`, ended or not.
    func leads(to observer: any OperationObserver) -> Bool {
        identity == ObjectIdentifier(observer)
    }

    /// Whether the relay forwards events to `observer`.
    func notifies(_ observer: any OperationObserver) -> Bool {
        target === observer
    }

    private var target: (any OperationObserver)? { observer.withLock { $0 } }

    // MARK: - OperationObserver

    // Every method of the protocol: a method missing here would fall back to the empty default.

    func operationDidStart(_ operation: ConnectionOperation) {
        target?.operationDidStart(operation)
    }

    func operationDidPause(_ operation: ConnectionOperation) {
        target?.operationDidPause(operation)
    }

    func operationDidResume(_ operation: ConnectionOperation) {
        target?.operationDidResume(operation)
    }

    func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {
        target?.operation(operation, didReceive: response)
    }

    func operation(
        _ operation: ConnectionOperation,
        didDownload bytes: Int,
        total: Int64,
        expected: Int64
    ) {
        target?.operation(operation, didDownload: bytes, total: total, expected: expected)
    }

    func operation(_ operation: ConnectionOperation, didUpload bytes: Int, total: Int64, expected: Int64) {
        target?.operation(operation, didUpload: bytes, total: total, expected: expected)
    }

    func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    ) {
        target?.operation(operation, didFollow: redirect, to: request)
    }

    func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64) {
        target?.operation(operation, didResumeAt: offset)
    }

    func operation(_ operation: ConnectionOperation, willStartOverBecause reason: RestartReason) {
        target?.operation(operation, willStartOverBecause: reason)
    }

    func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {
        target?.operation(operation, willRetry: retry)
    }

    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        target?.operationDidFinish(operation, wasRunning: wasRunning)
    }
}

extension OperationObserver {
    /// Whether this is `observer`, or a relay to it.
    func isOrLeads(to observer: any OperationObserver) -> Bool {
        self === observer || (self as? ObserverRelay)?.leads(to: observer) == true
    }

    /// Whether events reach `observer`: a relay that has ended forwards nothing.
    func passes(to observer: any OperationObserver) -> Bool {
        self === observer || (self as? ObserverRelay)?.notifies(observer) == true
    }
}
