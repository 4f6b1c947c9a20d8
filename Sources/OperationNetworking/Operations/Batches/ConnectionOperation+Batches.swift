internal import OperationNetworkingSystem

extension ConnectionOperation: BatchMember {
    /// Makes the operation a member of a batch.
    func take(_ seat: BatchSeat) {
        let (isDelivered, isCancelled) = state.withLock { state in
            if !state.isDelivered { state.seats.append(seat) }
            return (state.isDelivered, state.machine.isCancelledBeforeStart)
        }
        if isDelivered { seat.didFinish(self) } else if isCancelled { seat.wasCancelledBeforeStart() }
    }
}
