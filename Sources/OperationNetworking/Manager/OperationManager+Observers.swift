internal import OperationNetworkingSystem

// Observers of every operation that the manager makes.
extension OperationManager {
    /// Tells `observer` what happens to each operation that the manager makes from now on: those of verbs,
    /// uploads, downloads and members of batches, and of the image downloaders that the manager makes operations
    /// for. It is told, too, what happens to each copy that is made from now on of an
    /// operation of the manager, also of one that has ended, for as long as the manager is there.
    ///
    /// Each operation tells it as it tells its own observers, and before these: on its `completionQueue`, one
    /// call at a time and in order. Several operations may do so at once, where their queues do. The
    /// observers of a manager come in the order in which they were added, that of the ``logger`` among them;
    /// one that is added again stays in its place, and is told once.
    ///
    /// The manager keeps the observer until it is removed. Then it is released, and hears nothing more, even
    /// of running operations, except the event that it is hearing. So remove an observer that counts starts
    /// and ends only when it has heard of the last end, which may be after an `await` has returned; a
    /// ``NetworkActivityManager`` ends its counts by itself. A copy of the manager has the observers, and
    /// they are removed from each manager apart. An archive has none.
    ///
    /// As with an operation's own observers, a program that never runs its main queue has to set
    /// ``completionQueue``.
    ///
    /// - Returns: what removes it; it need not be kept.
    @discardableResult
    public func addObserver(_ observer: any OperationObserver) -> OperationObservation {
        let relay = state.withLock { $0.observers.add(observer) }
        return OperationObservation(of: self, by: relay)
    }

    /// Tells `observer` nothing any more, but for the events that it is being told: neither of new operations
    /// nor of those that run. Where it was added to an operation itself, it stays.
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
