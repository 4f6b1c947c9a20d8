internal import OperationNetworkingSystem

// Holding: a pause of what could not go on later keeps its connection.
extension Exchange {
    /// Whether the transfer waits while its operation is paused.
    struct Holding {
        var isHeld = false
        /// Whether it has been: what ends it may have happened meanwhile.
        var wasHeld = false
        /// The end that came meanwhile.
        var end: TransferEnd?
    }

    /// Whether the bytes held can neither be taken back nor be continued: a stream of the caller's, or a
    /// FIFO, that has bytes of which no strong validator says what they are.
    var cannotGoOn: Bool {
        sink.count > 0 && !sink.abilities.canBeEmptied && !resumption.canComeAgain(hop)
    }

    /// Holds the transfer if stopping it would be the end.
    /// - Returns: whether it is held.
    func hold(_ room: NetworkRoom) -> Bool {
        guard case .transferring(let id) = phase, case .deliver = bodyUse, case .none = verdict,
            sink.failure == nil, cannotGoOn
        else { return false }
        holding.isHeld = true
        runner(room).putAside(id)
        return true
    }

    /// Goes on with a transfer that was held.
    func takeUp(_ id: TransferID, _ room: NetworkRoom) {
        let end = holding.end
        holding = Holding(wasHeld: true)
        clock.tick()
        if let end { transferDidComplete(end) } else { runner(room).takeUp(id) }
    }

    func drop(_ room: NetworkRoom) {
        if holding.isHeld { stopTransfer(room) }
    }
}
