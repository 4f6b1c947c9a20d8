import Foundation
internal import OperationNetworkingSystem

/// The transfers of one exchange that a cache stands before: answers them from what is stored, or asks the
/// next runner and keeps what comes.
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

    func start(_ request: TransferRequest, id: TransferID, for client: any TransferClient) {
        let transfer = CachedTransfer(id, request, for: client, cache, willStore, over: next) {
            [weak self] in self?.running[id] = nil
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

    func giveUp(_ id: TransferID) {
        guard let transfer = running[id] else { return next.giveUp(id) }
        transfer.giveUp()
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

    /// The request is not known yet, and may need a connection. A stored response gives the reservation up.
    func reserve(
        _ reservation: Reservation,
        whenAdmitted: @escaping @Sendable () -> Void
    ) throws(TransferError) {
        try next.reserve(reservation, whenAdmitted: whenAdmitted)
    }
}
