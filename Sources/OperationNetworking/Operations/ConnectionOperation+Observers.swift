internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Tells `observer` what happens from now on, until the operation has finished. A copy of the operation
    /// does not tell it. One that counts starts and ends does not hear of a start that was before; a
    /// ``NetworkActivityManager`` learns whether the operation runs.
    ///
    /// - Returns: what removes it; it need not be kept.
    @discardableResult
    public func addObserver(_ observer: any OperationObserver) -> OperationObservation {
        state.withLock { state in
            if !state.isTold { state.closures.observers.append(observer) }
        }
        if let counter = observer as? any RunCounter { tell(counter) }
        return OperationObservation(of: self, by: observer)
    }

    /// Tells the observers of the manager that has made it. Its copies tell those that the manager has then.
    func join(_ observers: [any OperationObserver], of manager: ManagerReference) {
        state.withLock { state in
            state.closures.observers += observers
            state.manager = manager
        }
    }

    /// Tells `observer` nothing any more, but for the events that it is being told. One of the manager that
    /// made the operation goes on hearing of others.
    ///
    /// One that counts starts and ends does not hear of the end then; a ``NetworkActivityManager`` counts the
    /// operation no longer.
    public func removeObserver(_ observer: any OperationObserver) {
        state.change { $0.closures.observers.removeAll { $0.isOrLeads(to: observer) } }
        (observer as? any RunCounter)?.reconsider(self)
    }

    /// Whether it tells `observer`: by itself, or by a relay that has not ended.
    func tells(_ observer: any OperationObserver) -> Bool {
        // A relay may be the last to keep its observer, which is not to be released under the lock.
        state.withLock { $0.closures.observers }.contains { $0.passes(to: observer) }
    }

    /// Tells the counter, in the order of events, that the operation runs, if it does.
    func tell(_ counter: any RunCounter) {
        deliver { $0.runsNow ? .isRunning(counter) : nil }
    }
}

extension OperationState {
    /// Whether a start or a resumption was told, or is about to be, and no pause or end after it.
    fileprivate var runsNow: Bool { isRunning && machine.phase != .finished }

    /// The observers of a copy: those that the manager has now, since an operation that has ended has let go
    /// of its observers. Where the manager is gone, those that it gave to the operation, each by a relay. Not
    /// to be asked with a lock held: the manager may be released here.
    var observersOfCopy: [any OperationObserver] {
        manager?.observers ?? closures.observers.filter { $0 is ObserverRelay }
    }

    /// The closure of a copy's challenges: the manager's, where the operation has ended and let go of its
    /// own.
    var challengeOfCopy: ConnectionOperation.AuthenticationChallengeHandler? {
        closures.challenge ?? (isDelivered ? manager?.challenge : nil)
    }
}

extension ConnectionOperation: ObserverKeeper {
    func removeEntry(of observer: any OperationObserver) {
        state.change { $0.closures.observers.removeAll { $0 === observer } }
        (observer as? any RunCounter)?.reconsider(self)
    }
}
