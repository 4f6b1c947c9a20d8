import Foundation
internal import OperationNetworkingSystem

// The operation's place in its queue: see QueueSlots.
extension ConnectionOperation {
    var phase: OperationStateMachine.Phase { state.withLock { $0.machine.phase } }

    /// The server that the request goes to.
    var host: HostWaits.Host { state.withLock { $0.host } }

    /// What it needs its place for now.
    var slotUse: QueueSlots.Ledger.Use {
        state.withLock { state in
            switch state.machine.phase {
            case .executing: .runs(QueueSlots.isAnyResting ? state.host : nil)
            case .awaiting: state.place.resting.map { .rests($0) } ?? .lends
            case .pausedWhileExecuting, .ending: .lends
            case .heldBack: .isHeldBack(state.host)
            case .waitingForSlot, .returning: .returns
            case .ready, .pausedBeforeStart, .finishing, .finished: .isOver
            }
        }
    }

    /// - Returns: whether the phase is still one that lends the place; the end of the operation is told to
    ///   `slots` then.
    func lendsSlot(to slots: QueueSlots) -> Bool {
        state.withLock { state in
            guard state.machine.phase.lendsSlot else { return false }
            state.place.lendSlot(to: slots)
            return true
        }
    }

    /// - Returns: whether it runs, with a request to one of the hosts; its end is told to `slots` then.
    func runs(toOneOf hosts: Set<HostWaits.Host>, countedBy slots: QueueSlots) -> Bool {
        state.withLock { state in
            guard state.machine.phase == .executing, hosts.contains(state.host) else { return false }
            state.place.lendSlot(to: slots)
            return true
        }
    }

    /// A queue is believed only if it holds the operation: a block of some queue may have called `start()`.
    func isMember(of queue: OperationQueue) -> Bool { state.withLock { $0.place.isMember(of: queue) } }

    /// The queue has the operation.
    func join(_ queue: OperationQueue) {
        state.withLock { $0.place.join(queue) }
    }

    /// Goes on if it waits for that.
    func takeSlot() {
        apply { $0.machine.slotGranted() }
    }

    /// Lends the place in the queue, or asks for one, as the phase then says; on its own, goes on at once.
    ///
    /// The queue is the one that started the operation. The main queue runs one at a time, and its limit
    /// cannot be set.
    func settleSlot() {
        let (known, queue) = state.withLock { ($0.place.slots, $0.place.lendingQueue) }
        if let known {
            known.settle(self)
        } else if let queue {
            QueueSlots.of(queue).settle(self)
        } else {
            takeSlot()
        }
    }
}

// MARK: - Waits

extension ConnectionOperation {
    func exchangeWaits(_ wait: ExchangeWait, in lap: Int) {
        apply { state in
            guard state.place.lendingQueue != nil else { return .none }
            let effect = state.machine.waitBegan(in: lap)
            if effect != .none { state.place.wait(because: wait.hosts(with: state.host)) }
            return effect
        }
    }

    func exchangeMayGoOn(_ goOn: @escaping @Sendable () -> Void) -> Bool {
        var mayGoOn = false
        apply { state in
            mayGoOn = state.machine.phase == .executing
            let effect = state.machine.waitEnded()
            // The last one counts: an exchange that began anew while it waited for its place has another.
            if state.machine.phase == .returning { state.place.wait(then: goOn) }
            return effect
        }
        return mayGoOn
    }
}
