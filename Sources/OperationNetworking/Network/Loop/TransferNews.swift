/// The calls of clients that are due, for outside of libcurl: turns, refusals, and ends, in this order.
struct TransferNews {
    private var granted = Fifo<(client: any TransferClient, id: TransferID)>()
    private var refused = Fifo<(client: any TransferClient, id: TransferID, error: TransferError)>()
    private var ended = Fifo<(client: any TransferClient, end: TransferEnd)>()
    /// Stopped when they had ended and their clients had not heard of it.
    private var silenced: Set<TransferID> = []

    var isEmpty: Bool { ended.isEmpty && granted.isEmpty && refused.isEmpty }

    /// The transfer has ended by itself.
    mutating func append(_ end: TransferEnd, for client: any TransferClient) {
        ended.append((client, end))
    }

    /// The transfer may start: it got its turn before it knew what to ask.
    mutating func grant(_ id: TransferID, for client: any TransferClient) {
        granted.append((client, id))
    }

    /// The transfer never gets its turn.
    mutating func refuse(_ id: TransferID, for client: any TransferClient, _ error: TransferError) {
        refused.append((client, id, error))
    }

    /// The client does not want to hear of the end any more, if that is due.
    mutating func silence(_ id: TransferID) {
        if !ended.isEmpty { silenced.insert(id) }
    }

    /// Takes the next call out; `mayStart` says whether the turn that a transfer was granted is still its
    /// own.
    /// - Returns: a closure that makes the call, which may start a transfer, or run the run loop.
    mutating func next(mayStart: (TransferID) -> Bool) -> (() -> Void)? {
        while let next = granted.popFirst() {
            if mayStart(next.id) { return { next.client.transferMayStart(next.id) } }
        }
        if let next = refused.popFirst() { return { next.client.transferCannotStart(next.id, next.error) } }
        while let next = ended.popFirst() {
            if silenced.remove(next.end.id) == nil { return { next.client.transferDidComplete(next.end) } }
        }
        silenced.removeAll()
        return nil
    }
}
