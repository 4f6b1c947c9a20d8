import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Opening: the sink looks for bytes from an earlier process. A sink that opens files for that does so only
// when a connection is available: thousands of waiting exchanges have no files open.
extension Exchange {
    /// - Returns: whether the sink is open. If not, the transfer starts once it is.
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

    /// Waits for a connection, then prepares the transfer again, since another token may be needed.
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
            // An exchange that was paused in between opens the sink when it resumes.
            guard machine.sinkOpened(!isLack) else { return }
            cancelReservation(network)
            if isLack, network.transfers.mayWaitForDescriptors() { startAgain() } else { fail(error) }
        }
    }

    /// - Returns: whether the exchange still waits for it: it may have been paused or cancelled in between.
    @discardableResult
    private func didOpen(_ content: SinkContent) -> Bool {
        if let partial = content.partial {
            resumption.take(partial)
            // These bytes are not progress of this exchange.
            attempts.note(held: partial.offset)
        }
        resumption.take(besides: content.kept, replacing: content.replaced)
        // Nothing has been sent yet: this is the first hop.
        if let condition = content.condition { route.add(condition) }
        if let reason = content.lost { owner?.exchangeWillStartOver(because: reason) }
        return machine.sinkOpened()
    }
}
