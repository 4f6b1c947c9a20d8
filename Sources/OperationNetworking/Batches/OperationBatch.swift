public import Dispatch
public import Foundation
internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Makes a batch of operations: `progress` hears how many are done, `completion` that all are.
    ///
    /// A member is done when its last callback has been delivered. `progress` is called once for each, with counts
    /// from 1 to the number of members; `completion` exactly once, after all of these. Both are called on
    /// `completionQueue`, one at a time. Members may have finished before, and may fail or be cancelled: that counts
    /// as done. An empty batch completes.
    ///
    /// - Parameters:
    ///   - operations: the members; each has to be in a queue, or be started, before the batch can complete. Until then
    ///     the batch keeps them.
    ///   - completionQueue: `nil`: the main queue.
    ///   - progress: hears how many members are done, and how many there are.
    ///   - completion: hears that all are, and gets them in order.
    /// - Returns: the members in order, and one operation more that finishes when `completion` has returned. All may
    ///   be added to a queue; the last one only needs to be if somebody waits for it, or depends on it.
    public static func batch<Member: ConnectionOperation>(
        of operations: [Member],
        completionQueue: DispatchQueue? = nil,
        progress: (@Sendable (_ finished: Int, _ total: Int) -> Void)? = nil,
        completion: (@Sendable ([Member]) -> Void)? = nil
    ) -> [Operation] {
        let end = BatchEndOperation()
        let group = DispatchGroup()
        let count = BatchCount(
            total: operations.count,
            queue: DispatchQueue(label: "OperationNetworking.batch", target: completionQueue ?? .main),
            progress: progress
        )
        for operation in operations {
            group.enter()
            operation.whenDelivered { count.memberDidFinish(in: group) }
        }
        group.notify(queue: count.queue) {
            completion?(operations)
            end.allow()
        }
        return operations + [end]
    }
}

/// How many members of a batch are done.
private final class BatchCount: Sendable {
    /// Serial, and on the user's queue: counts arrive in order even if that one is concurrent.
    let queue: DispatchQueue
    private let total: Int
    private let progress: (@Sendable (Int, Int) -> Void)?
    private let finished = Locked(0)

    init(total: Int, queue: DispatchQueue, progress: (@Sendable (Int, Int) -> Void)?) {
        self.total = total
        self.queue = queue
        self.progress = progress
    }

    func memberDidFinish(in group: DispatchGroup) {
        queue.async {
            let count = self.finished.withLock { finished in
                finished += 1
                return finished
            }
            self.progress?(count, self.total)
            group.leave()
        }
    }
}

/// Becomes ready when its batch has completed. It gates on nothing but itself: one operation that depended on all
/// members would cost a queue time that grows with their square.
private final class BatchEndOperation: Operation, @unchecked Sendable {
    // @unchecked: the only state is behind a lock.
    private let isAllowed = Locked(false)

    override var isReady: Bool { super.isReady && isAllowed.withLock { $0 } }

    func allow() {
        isAllowed.withLock { $0 = true }
        didChangeValue(forKey: "isReady")
    }
}
