import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Opening: the sink looks what it has from an earlier process. One that opens files for that does so when
// there is a connection to be had: thousands that wait for one have nothing open.
extension Exchange {
    /// - Returns: whether the sink is open; else the transfer starts after that.
    func opensSink(_ network: NetworkContext) -> Bool {
        if machine.hasClosedSink, configuration.opensFiles, route.hopURL != nil, reservation == nil {
            reserve(network)
            return false
        }
        guard machine.openSink() else { return false }
        sink.willOpen(for: route.adapted, token: authentication.token?.value)
        let content = sink.open { result in
            NetworkThread.shared.perform { network in self.sinkDidOpen(result, network) }
        }
        if let content { didOpen(content) }
        return machine.hasOpenSink
    }

    /// Waits for a connection, and goes through everything again: another token may be needed by then.
    private func reserve(_ network: NetworkContext) {
        let settings = configuration.settings
        let reservation = Reservation(
            id: .next(),
            place: TransferPlace(limit: settings.connectionLimit, origin: Origin(route.url)),
            priority: configuration.priority,
            raisedConnectionLimit: settings.raisedConnectionLimit
        )
        self.reservation = reservation.id
        let go = wait { (exchange, _: Void, network) in exchange.prepare(network) }
        do throws(TransferError) {
            try runner(network).reserve(reservation) { go(()) }
        } catch {
            self.reservation = nil
            fail(error.error(for: route.url))
        }
    }

    private func sinkDidOpen(_ result: Result<SinkContent, any Error>, _ network: NetworkContext) {
        switch result {
        case .success(let content):
            if didOpen(content) { prepare(network) }
        case .failure(let error):
            let isLack = error.isLackOfDescriptors
            // One that was paused meanwhile opens it when it goes on.
            guard machine.sinkOpened(!isLack) else { return }
            giveReservationUp(network)
            if isLack, network.transfers.mayWaitForDescriptors() { startAgain() } else { fail(error) }
        }
    }

    /// - Returns: whether that was waited for: the exchange may have been paused or cancelled meanwhile.
    @discardableResult
    private func didOpen(_ content: SinkContent) -> Bool {
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
