internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Adds an observer of the operation's events from now on, until the operation has finished. Copies of the
    /// operation do not have the observer. An observer that counts starts and ends misses an earlier start; a
    /// ``NetworkActivityManager`` takes into account whether the operation is running.
    ///
    /// - Returns: an object that removes the observer; it need not be kept.
    @discardableResult
    public func addObserver(_ observer: any OperationObserver) -> OperationObservation {
        state.withLock { state in
            if !state.isCompletionDelivered { state.closures.observers.append(observer) }
        }
        if let counter = observer as? any RunCounter { notify(counter) }
        return OperationObservation(of: self, by: observer)
    }

    /// Adds the observers of the manager that made the operation. Its copies take the manager's observers at
    /// the time of the copy.
    func join(_ observers: [any OperationObserver], of manager: ManagerReference) {
        state.withLock { state in
            state.closures.observers += observers
            state.manager = manager
        }
    }

    /// Removes `observer`. An event that is already being delivered still reaches it. An observer of the
    /// manager that made the operation stays an observer of the manager's other operations.
    ///
    /// An observer that counts starts and ends misses the end; a ``NetworkActivityManager`` stops counting
    /// the operation.
    public func removeObserver(_ observer: any OperationObserver) {
        state.change { $0.closures.observers.removeAll { $0.isOrLeads(to: observer) } }
        (observer as? any RunCounter)?.reconsider(self)
    }

    /// Whether the operation notifies `observer`, directly or through a relay that has not ended.
    func notifies(_ observer: any OperationObserver) -> Bool {
        // A relay may hold the last reference to its observer, which must not be released under the lock.
        state.withLock { $0.closures.observers }.contains { $0.passes(to: observer) }
    }

    /// Notifies the counter, in the order of events, if the operation is running.
    func notify(_ counter: any RunCounter) {
        deliver { $0.runsNow ? .isRunning(counter) : nil }
    }
}

extension OperationState {
    /// Whether a start or resumption was delivered, or is about to be, and no pause or end after it.
    fileprivate var runsNow: Bool { isRunning && machine.phase != .finished }

    /// The observers of a copy: the manager's current ones, since a finished operation has released its
    /// observers. If the manager has been released, the ones that it gave to this operation, each through a
    /// relay. Must not be called with a lock held: the manager may be released here.
    var observersOfCopy: [any OperationObserver] {
        manager?.observers ?? closures.observers.filter { $0 is ObserverRelay }
    }

    /// The challenge closure of a copy: the manager's, if the operation has finished and released its own.
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
