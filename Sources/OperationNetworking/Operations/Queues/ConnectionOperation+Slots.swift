import Foundation
internal import OperationNetworkingSystem

extension ConnectionOperation: SlotHolder {
    var phase: OperationStateMachine.Phase { state.withLock { $0.machine.phase } }

    func lendsSlot(to slots: QueueSlots, isMember: (Operation) -> Bool) -> Bool {
        if state.withLock({ $0.place.slots === slots }) { return true }
        guard isMember(self) else { return false }
        return state.withLock { state in
            guard state.machine.phase.lendsSlot else { return false }
            state.place.lendSlot(to: slots)
            return true
        }
    }

    @discardableResult
    func takeSlot() -> Bool {
        apply { $0.machine.slotGranted() } == .begin
    }

    /// Lends the slot to the queue, or asks for one, as the phase then says; on its own, goes on at once.
    ///
    /// The queue is the one that started the operation. The main queue runs one at a time, and its limit
    /// cannot be set.
    func settleSlot() {
        let (known, queue) = state.withLock { ($0.place.slots, $0.place.queue) }
        if let known {
            known.settle(self)
        } else if let queue, queue !== OperationQueue.main {
            QueueSlots.of(queue).settle(self)
        } else {
            takeSlot()
        }
    }
}
