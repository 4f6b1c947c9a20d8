import Foundation
internal import OperationNetworkingSystem

// The operation's slot in its queue: see QueueSlots.
extension ConnectionOperation {
    var phase: OperationStateMachine.Phase { state.withLock { $0.machine.phase } }

    /// The server that the request goes to.
    var host: HostWaits.Host { state.withLock { $0.host } }

    /// The current use of the operation's slot.
    var slotUse: QueueSlots.Ledger.Use {
        state.withLock { state in
            switch state.machine.phase {
            case .executing: .runs(QueueSlots.isAnyResting ? state.host : nil)
            case .awaiting: state.place.resting.map { .rests($0) } ?? .lends
            case .pausedWhileExecuting, .ending: .lends
            case .heldBack: .isHeldBack(state.host)
            case .waitingForSlot, .returning: .returns
            case .ready, .pausedBeforeStart, .finishing, .finished: .ended
            }
        }
    }

    /// - Returns: whether the phase still lends the slot. If so, the end of the operation is reported to
    ///   `slots`.
    func lendsSlot(to slots: QueueSlots) -> Bool {
        state.withLock { state in
            guard state.machine.phase.lendsSlot else { return false }
            state.place.lendSlot(to: slots)
            return true
        }
    }

    /// - Returns: whether the operation runs, with a request to one of the hosts. If so, its end is reported
    ///   to `slots`.
    func runs(toOneOf hosts: Set<HostWaits.Host>, countedBy slots: QueueSlots) -> Bool {
        state.withLock { state in
            guard state.machine.phase == .executing, hosts.contains(state.host) else { return false }
            state.place.lendSlot(to: slots)
            return true
        }
    }

    /// Whether the queue is known to hold the operation: a block of any queue may have called `start()`.
    func isMember(of queue: OperationQueue) -> Bool { state.withLock { $0.place.isMember(of: queue) } }

    /// Records that the queue holds the operation.
    func join(_ queue: OperationQueue) {
        state.withLock { $0.place.join(queue) }
    }

    /// Continues if the operation waits for a slot.
    func takeSlot() {
        apply { $0.machine.slotGranted() }
    }

    /// Lends or requests a slot in the queue, according to the phase at that time. An operation without a
    /// queue continues at once.
    ///
    /// The queue is the one that started the operation. The main queue runs one operation at a time, and its
    /// limit cannot be set.
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

    func exchangeMayContinue(in lap: Int, _ resume: @escaping @Sendable () -> Void) -> Bool {
        var mayContinue = false
        apply { state in
            // Paused since: its suspension is on the way to the network thread. The operation may even run
            // again, in the slot of another one whose own suspension comes behind: a transfer that started
            // now would be one too many until then.
            guard lap == state.machine.lap else { return .none }
            mayContinue = state.machine.phase == .executing
            let effect = state.machine.waitEnded()
            // The last closure counts: an exchange that began again while it waited for its slot has another
            // one.
            if state.machine.phase == .returning { state.place.wait(then: resume) }
            return effect
        }
        return mayContinue
    }
}
