import Foundation
internal import OperationNetworkingSystem

/// Runs the transfers of one exchange through a cache: answers them with stored responses, or passes them to
/// the next runner and stores what it receives.
final class CachedTransfers: TransferRunning {
    private let cache: ResponseCache
    private let willStore: CacheResponseHandler?
    private let next: any TransferRunning
    private var running: [TransferID: CachedTransfer] = [:]

    init(_ cache: ResponseCache, willStore: CacheResponseHandler?, over next: any TransferRunning) {
        self.cache = cache
        self.willStore = willStore
        self.next = next
    }

    func start(_ request: consuming TransferRequest, id: TransferID, for client: any TransferClient) {
        // Until its end, the transfer retains this object, as it does the client.
        let transfer = CachedTransfer(id, consume request, for: client, cache, willStore, over: next) {
            self.running[id] = nil
        }
        running[id] = transfer
        transfer.start()
    }

    @discardableResult
    func stop(_ id: TransferID) -> TransferMetrics? {
        guard let transfer = running.removeValue(forKey: id) else { return next.stop(id) }
        return transfer.stop()
    }

    func resumeReceiving(_ id: TransferID) {
        guard let transfer = running[id] else { return next.resumeReceiving(id) }
        transfer.resumeReceiving()
    }

    func receive(_ id: TransferID) {
        guard let transfer = running[id] else { return next.receive(id) }
        transfer.receive()
    }

    func cancelReceiving(_ id: TransferID) {
        guard let transfer = running[id] else { return next.cancelReceiving(id) }
        transfer.cancelReceiving()
    }

    func pause(_ id: TransferID) {
        guard let transfer = running[id] else { return next.pause(id) }
        transfer.setPaused(true)
    }

    func resume(_ id: TransferID) {
        guard let transfer = running[id] else { return next.resume(id) }
        transfer.setPaused(false)
    }

    func sentCount(_ id: TransferID) -> Int64 {
        guard let transfer = running[id] else { return next.sentCount(id) }
        guard case .fetching(let fetch) = transfer.phase else { return 0 }
        return next.sentCount(fetch.id)
    }

    /// Reserves a connection, since it is unknown whether the request needs one. A transfer that is answered
    /// by a stored response releases it.
    func reserve(
        _ reservation: Reservation,
        whenAdmitted: @escaping @Sendable () -> Void
    ) throws(TransferError) {
        try next.reserve(reservation, whenAdmitted: whenAdmitted)
    }
}
