public import Foundation
internal import OperationNetworkingSystem

/// An operation queue whose limit counts what runs.
///
/// An operation does not count while it is paused, or waits for a token source, a request adapter, a
/// challenge closure, or another closure of yours that answers it: such a closure may send requests in the
/// same queue. It goes on when there is room again, before operations that have not started. One that waits
/// for a time, because of a `Retry-After` or before a retry, counts for requests to its own server only:
/// others run in its place, and those to its server are not begun in it. These have had their turn by then:
/// they go on in the order of the queue, and a priority or a dependency that is set later does not count.
///
/// Any `OperationQueue` works as well, but shows a changed limit: the one that you set plus the operations
/// that do not count. A limit that you set meanwhile counts when the next operation is paused, waits, goes on
/// or ends, unless it equals the number shown. A `TransferQueue` always shows the limit that you set, and a
/// new one counts at once. On the main queue every operation counts until it ends.
public final class TransferQueue: OperationQueue, @unchecked Sendable {
    // @unchecked: as `OperationQueue`; the only stored property is assigned once, behind a lock.

    private let made = Locked<QueueSlots?>(nil)

    /// Makes a queue without a limit.
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

    /// Adds an operation, which cannot be configured any more.
    public override func addOperation(_ operation: Operation) {
        (operation as? ConnectionOperation)?.seal(in: self)
        super.addOperation(operation)
        ConnectionOperation.tellReadiness(late: [operation])
    }

    /// Adds operations, which cannot be configured any more.
    ///
    /// - Parameters:
    ///   - operations: those.
    ///   - wait: whether this returns only when all of them have finished.
    public override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        ConnectionOperation.seal(operations, in: self)
        super.addOperations(operations, waitUntilFinished: false)
        ConnectionOperation.tellReadiness(late: operations)
        if wait { for operation in operations { operation.waitUntilFinished() } }
    }

    /// The number of operations that may run at once, apart from those that are paused, or wait for your code
    /// or a time. Those that wait for a connection count: of this limit and
    /// ``ConnectionOperation/maximumConnectionsPerHost`` the smaller one decides.
    public override var maxConcurrentOperationCount: Int {
        get { slots.userLimit ?? foundationLimit }
        set { slots.set(userLimit: newValue, of: self) }
    }

    var foundationLimit: Int {
        get { super.maxConcurrentOperationCount }
        set { super.maxConcurrentOperationCount = newValue }
    }
}
