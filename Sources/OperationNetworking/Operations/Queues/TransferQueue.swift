public import Foundation
internal import OperationNetworkingSystem

/// An operation queue whose limit counts only running operations.
///
/// ```swift
/// let queue = TransferQueue()
/// queue.maxConcurrentOperationCount = 4
/// ```
///
/// An operation does not count while it is paused, or waits for a token source, a request adapter, a
/// challenge closure, or another closure of yours that it needs an answer from: such a closure may send
/// requests in the same queue. The operation resumes when there is room again, before operations that have
/// not started. An operation that waits for a delay, because of a `Retry-After` or before a retry, gives its
/// slot only to requests to other servers. If the queue starts another request to the same server in that
/// slot, that request waits as well. Its place in the order is then fixed: a priority or a dependency that is
/// set later has no effect.
///
/// Any `OperationQueue` works as well, but shows a changed limit: yours plus the number of operations that do
/// not count. A limit that you set in the meantime takes effect when the next operation is paused, waits,
/// resumes or ends, unless it equals the number shown. A `TransferQueue` always shows the limit that you set,
/// and a new one takes effect at once. On the main queue every operation counts until it ends.
public final class TransferQueue: OperationQueue, @unchecked Sendable {
    // @unchecked: as `OperationQueue`; the only stored property is assigned once, behind a lock.

    private let made = Locked<QueueSlots?>(nil)

    /// Creates a queue without a limit.
    public override init() {
        super.init()
    }

    var slots: QueueSlots {
        made.withLock { made in
            let slots = made ?? QueueSlots(self)
            made = slots
            return slots
        }
    }

    /// Adds an operation, which can then no longer be configured.
    public override func addOperation(_ operation: Operation) {
        (operation as? ConnectionOperation)?.seal(in: self)
        super.addOperation(operation)
        ConnectionOperation.notifyReadiness(late: [operation])
    }

    /// Adds operations, which can then no longer be configured.
    ///
    /// - Parameters:
    ///   - operations: the operations.
    ///   - wait: whether to return only when all of them have finished.
    public override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        ConnectionOperation.seal(operations, in: self)
        super.addOperations(operations, waitUntilFinished: false)
        ConnectionOperation.notifyReadiness(late: operations)
        if wait { for operation in operations { operation.waitUntilFinished() } }
    }

    /// The maximum number of operations that run at once, not counting those that are paused, or wait for
    /// your code or a delay. Operations that wait for a connection count, so the smaller of this limit and
    /// ``ConnectionOperation/maximumConnectionsPerHost`` applies.
    public override var maxConcurrentOperationCount: Int {
        get { slots.userLimit ?? foundationLimit }
        set { slots.set(userLimit: newValue, of: self) }
    }

    var foundationLimit: Int {
        get { super.maxConcurrentOperationCount }
        set { super.maxConcurrentOperationCount = newValue }
    }
}
