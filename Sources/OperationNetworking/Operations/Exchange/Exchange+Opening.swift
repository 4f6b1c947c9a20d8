import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Opening: the sink looks what it has from an earlier process. One that opens files for that does so when
// there is a connection to be had: thousands that wait for one have nothing open.
extension Exchange {
    /// - Returns: whether the sink is open at once; else the transfer starts after that.
    func opens(_ room: NetworkRoom) -> Bool {
        let opensFiles = configuration.opensFiles && route.hopURL != nil
        perform(machine.openSink(inTurn: opensFiles ? .next() : nil), room)
        return machine.hasOpenSink
    }

    func takeTurn(_ id: TransferID, _ room: NetworkRoom) {
        let settings = configuration.settings
        let request = TurnRequest(
            place: TransferPlace(limit: settings.connectionLimit, origin: Origin(route.url)),
            priority: configuration.priority,
            raisedConnectionLimit: settings.raisedConnectionLimit
        )
        runner(room).takeTurn(id, request, for: self)
    }

    /// - Returns: the content, if it is known at once.
    func openSink() -> SinkContent? {
        sink.willOpen(for: route.adapted, token: authentication.token?.value)
        return sink.open { result in
            NetworkThread.shared.perform { room in self.sinkDidOpen(result, room) }
        }
    }

    func sinkDidOpen(_ result: Result<SinkContent, any Error>, _ room: NetworkRoom) {
        switch result {
        case .success(let content):
            if didOpen(content) { prepare(room) }
        case .failure(let error) where error.isLackOfDescriptors:
            let mayWait = room.transfers.mayWaitForDescriptors()
            // One that was paused meanwhile opens it when it goes on.
            guard machine.sinkMustOpenAgain() else { return }
            giveTurnBack(room)
            if mayWait { startAgain() } else { fail(error) }
        case .failure(let error):
            guard machine.sinkOpened() else { return }
            giveTurnBack(room)
            fail(error)
        }
    }

    /// - Returns: whether that was waited for: the exchange may have been paused or cancelled meanwhile.
    @discardableResult
    func didOpen(_ content: SinkContent) -> Bool {
        if let partial = content.partial {
            resumption.take(partial)
            // No progress of this exchange.
            attempts.note(held: partial.offset)
        }
        resumption.take(besides: content.kept, replacing: content.replaced)
        // Before anything is sent: the hop is the first one.
        if let condition = content.condition { route.add(condition) }
        if let reason = content.lost { owner?.exchangeWillStartOver(because: reason) }
        return machine.sinkOpened()
    }
}
