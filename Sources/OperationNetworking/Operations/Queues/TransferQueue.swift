public import Foundation
internal import OperationNetworkingSystem

/// An operation queue whose limit counts what runs: an operation that is paused does not count.
///
/// Any `OperationQueue` does as well. Its limit then shows the slots of paused operations on top of what was
/// set, from a pause until the operations went on or ended; a new limit is taken over within half a second,
/// and one that happens to be the number shown is not seen. Here what was set is what is shown, and counts at
/// once.
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
