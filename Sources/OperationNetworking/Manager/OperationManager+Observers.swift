internal import OperationNetworkingSystem

// Observers of every operation that the manager makes.
extension OperationManager {
    /// Adds an observer of each operation that the manager makes from now on: those of verbs, uploads,
    /// downloads and members of batches, and those made for image downloaders. The observer is also notified
    /// of copies made from now on of the manager's operations, even finished ones, while the manager exists.
    ///
    /// An operation notifies it like its own observers, and before them: on its `completionQueue`, one call
    /// at a time and in order. Several operations may do so concurrently if their queues do. The observers of
    /// a manager, including that of the ``logger``, are notified in the order in which they were added; an
    /// observer that is added again keeps its place and is notified once.
    ///
    /// The manager retains the observer until it is removed. It is then released, and no longer notified even
    /// of running operations, except for an event that is already being delivered. So remove an observer that
    /// counts starts and ends only after the last end, which may come after an `await` has returned; a
    /// ``NetworkActivityManager`` corrects its counts itself. A copy of the manager has the same observers,
    /// which are removed separately. An archive has none.
    ///
    /// As with an operation's own observers, a program that never runs its main queue must set
    /// ``completionQueue``.
    ///
    /// - Returns: an object that removes the observer; it need not be kept.
    @discardableResult
    public func addObserver(_ observer: any OperationObserver) -> OperationObservation {
        let relay = state.withLock { $0.observers.add(observer) }
        return OperationObservation(of: self, by: relay)
    }

    /// Removes `observer`, also from running operations. An event that is already being delivered still
    /// reaches it. If it was added to an operation itself, it stays there.
    public func removeObserver(_ observer: any OperationObserver) {
        state.withLock { $0.observers.remove(observer) }?.end()
    }
}

extension OperationManager: OperationMaker {
    var observersOfNewOperation: [any OperationObserver] {
        state.withLock { $0.observers }.ofNewOperation
    }

    var challengeOfNewOperation: ConnectionOperation.AuthenticationChallengeHandler? {
        state.withLock { $0.challenge }
    }
}

extension OperationManager: ObserverKeeper {
    func removeEntry(of observer: any OperationObserver) {
        removeObserver(observer)
    }
}
