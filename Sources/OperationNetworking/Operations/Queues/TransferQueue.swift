public import Foundation
internal import OperationNetworkingSystem

/// An operation queue whose limit counts what runs: an operation that is paused does not count.
///
/// Any `OperationQueue` works as well, but shows a changed limit: from a pause until the operations go on or
/// end, its limit is the one that you set plus the operations that were paused while they ran. A limit that
/// you set meanwhile is taken over within half a second, unless it equals the number shown. A `TransferQueue`
/// always shows the limit that you set, and a new one counts at once.
public final class TransferQueue: OperationQueue, SlotQueue, @unchecked Sendable {
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
        ConnectionOperation.seal([operation])
        super.addOperation(operation)
        ConnectionOperation.tellReadiness(late: [operation])
    }

    /// Adds operations, which cannot be configured any more.
    ///
    /// - Parameters:
    ///   - operations: those.
    ///   - wait: whether this returns only when all of them have finished.
    public override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        ConnectionOperation.seal(operations)
        super.addOperations(operations, waitUntilFinished: false)
        ConnectionOperation.tellReadiness(late: operations)
        if wait { for operation in operations { operation.waitUntilFinished() } }
    }

    /// The number of operations that may run at once, apart from those that are paused. Those that wait for a
    /// connection count: of this limit and ``ConnectionOperation/maximumConnectionsPerHost`` the smaller one
    /// decides.
    public override var maxConcurrentOperationCount: Int {
        get { slots.userLimit ?? foundationLimit }
        set { slots.set(userLimit: newValue, of: self) }
    }

    var foundationLimit: Int {
        get { super.maxConcurrentOperationCount }
        set { super.maxConcurrentOperationCount = newValue }
    }
}
