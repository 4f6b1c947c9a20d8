internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Tells `observer` what happens from now on, until the operation has finished.
    ///
    /// - Returns: what removes it; it need not be kept.
    @discardableResult
    public func addObserver(_ observer: any OperationObserver) -> OperationObservation {
        state.withLock { if !$0.isTold { $0.closures.observers.append(observer) } }
        return OperationObservation(of: self, by: observer)
    }

    /// The same of several, in this order.
    func addObservers(_ observers: [any OperationObserver]) {
        guard !observers.isEmpty else { return }
        state.withLock { if !$0.isTold { $0.closures.observers += observers } }
    }

    /// Tells `observer` nothing any more, but for the events that it is being told. One of the manager that
    /// made the operation goes on hearing of others.
    public func removeObserver(_ observer: any OperationObserver) {
        state.change { $0.closures.observers.removeAll { $0.isOrLeads(to: observer) } }
    }

    /// Makes the call of an observer's closure: at once if it belongs here, else before anything else is
    /// told. For an observer that is being told something.
    func make(_ call: Detour?) {
        guard let elsewhere = call?.callHere(onMain: MainQueue.isCurrent) else { return }
        state.withLock { $0.outbox.detours.append(elsewhere) }
    }

    /// The same as ``addObserver(_:)``; and `first` is called on the completion queue, in the order of
    /// events, with whether the operation runs now.
    func addObserver(_ observer: any OperationObserver, first: @escaping @Sendable (Bool) -> Detour?) {
        deliver { state in
            let isOver = state.machine.phase == .finished
            if !isOver || !state.isDelivered { state.closures.observers.append(observer) }
            return .observed(isRunning: state.isRunning && !isOver, first)
        }
    }
}

extension ConnectionOperation: ObserverKeeper {
    func removeEntry(of observer: any OperationObserver) {
        state.change { $0.closures.observers.removeAll { $0 === observer } }
    }
}
