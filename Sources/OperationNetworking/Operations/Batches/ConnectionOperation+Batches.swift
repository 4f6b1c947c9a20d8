internal import OperationNetworkingSystem

extension ConnectionOperation: BatchMember {
    /// Makes the operation a member of a batch.
    func take(_ seat: BatchSeat) {
        let isDelivered = state.withLock { state in
            if !state.isDelivered { state.seats.append(seat) }
            return state.isDelivered
        }
        if isDelivered { seat.didFinish(self) }
    }
}
