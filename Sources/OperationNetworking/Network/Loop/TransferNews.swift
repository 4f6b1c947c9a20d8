/// The calls of clients that are due, for outside of libcurl: turns, refusals, and ends, in this order.
struct TransferNews {
    /// A call of a client that is due.
    enum Call {
        case grant(TransferID, any TransferClient)
        case refuse(TransferID, any TransferClient, TransferError)
        case end(TransferEnd, any TransferClient)

        /// Makes the call, which may start a transfer, or run the run loop.
        func callAsFunction() {
            switch self {
            case .grant(let id, let client): client.transferMayStart(id)
            case .refuse(let id, let client, let error): client.transferCannotStart(id, error)
            case .end(let end, let client): client.transferDidComplete(end)
            }
        }
    }

    private struct Ended {
        let end: TransferEnd
        let client: any TransferClient
    }

    private var granted = Fifo<(client: any TransferClient, id: TransferID)>()
    private var refused = Fifo<(client: any TransferClient, id: TransferID, error: TransferError)>()
    private var ended = Fifo<Ended>()
    /// Stopped when they had ended and their clients had not heard of it.
    private var silenced: Set<TransferID> = []

    var isEmpty: Bool { ended.isEmpty && granted.isEmpty && refused.isEmpty }

    /// The transfer has ended by itself.
    mutating func append(_ end: TransferEnd, for client: any TransferClient) {
        ended.append(Ended(end: end, client: client))
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
    mutating func next(mayStart: (TransferID) -> Bool) -> Call? {
        while let next = granted.popFirst() {
            if mayStart(next.id) { return .grant(next.id, next.client) }
        }
        if let next = refused.popFirst() { return .refuse(next.id, next.client, next.error) }
        while let next = ended.popFirst() {
            if silenced.remove(next.end.id) == nil { return .end(next.end, next.client) }
        }
        silenced.removeAll()
        return nil
    }
}
