import OperationNetworkingSystem

@testable import OperationNetworking

extension ConnectionOperation {
    /// The number of its observers, a manager's included.
    var observerCount: Int { state.withLock { $0.closures.observers.count } }

    /// Whether a task waits for its value.
    var isWaitedFor: Bool { state.withLock { !$0.whenFinished.isEmpty || $0.whenKnown != nil } }

    /// Whether a batch waits for its end.
    var isMemberOfABatch: Bool { state.withLock { !$0.memberships.isEmpty } }

    /// Calls `body` on the completion queue after what waits for it, as a session calls the closure for resume data.
    func callBackLater(_ body: @escaping @Sendable () -> Void) { callBack(Callback(in: nil, body)) }

    /// Whether callbacks or notifications wait for their queue.
    var hasCallbacksOnTheirWay: Bool { state.withLock { $0.outbox.isScheduled } }
}
