import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Opening: the sink looks what it has from an earlier process. One that opens files for that does so when
// there is a connection to be had: thousands that wait for one have nothing open.
extension Exchange {
    /// The transfer starts after that.
    func open(_ room: NetworkRoom) {
        phase = .opening
        guard opening == .notYet, turn == nil else { return }
        guard configuration.opensFiles, let url = hop.url else { return openSink() }
        let id = TransferID.next()
        turn = id
        let settings = configuration.settings
        let request = TurnRequest(
            place: TransferPlace(limit: settings.connectionLimit, origin: Origin(url)),
            priority: configuration.priority,
            raisedConnectionLimit: settings.raisedConnectionLimit
        )
        runner(room).takeTurn(id, request, for: self)
    }

    func transferMayStart(_ id: TransferID) {
        guard turn == id, case .opening = phase, opening == .notYet else { return }
        openSink()
    }

    func transferCannotStart(_ id: TransferID, _ error: TransferError) {
        guard turn == id, case .opening = phase, let url = hop.url else { return }
        turn = nil
        fail(error.error(for: url))
    }

    /// Others may have it.
    func giveTurnBack(_ room: NetworkRoom) {
        if let turn { runner(room).stop(turn) }
        turn = nil
    }

    private func openSink() {
        opening = .asked
        sink.open { result in
            NetworkThread.shared.perform { room in self.sinkDidOpen(result, room) }
        }
    }

    private func sinkDidOpen(_ result: Result<SinkContent, any Error>, _ room: NetworkRoom) {
        opening = .done
        if case .success(let content) = result {
            if let partial = content.partial { resumption.take(partial) }
            if let condition = content.condition {
                self.condition = condition
                request.setValue(condition.value, forHTTPHeaderField: condition.name)
                // It is the first one: a sink is opened before anything is sent.
                hop.setValue(condition.value, forHTTPHeaderField: condition.name)
            }
            if let reason = content.lost { owner?.exchangeWillStartOver(because: reason) }
        }
        // It may have been paused or cancelled meanwhile.
        guard case .opening = phase else { return }
        switch result {
        case .success:
            startTransfer(room)
        case .failure(let error):
            giveTurnBack(room)
            fail(error)
        }
    }
}
