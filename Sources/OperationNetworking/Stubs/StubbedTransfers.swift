import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The transfers of an exchange with ``RequestStubs``: answers them or passes them on.
final class StubbedTransfers: TransferRunning {
    private let stubs: RequestStubs
    private let next: any TransferRunning
    private var running: [TransferID: StubbedTransfer] = [:]

    init(_ stubs: RequestStubs, over next: any TransferRunning) {
        self.stubs = stubs
        self.next = next
    }

    func start(_ request: TransferRequest, id: TransferID, for client: any TransferClient) {
        let transfer = StubbedTransfer(id, request, for: client, stubs) {
            [unowned self] outcome in
            running[id] = nil
            switch outcome {
            case .ended(let end): client.transferDidComplete(end)
            case .unmatched: next.start(request, id: id, for: client)
            }
        }
        running[id] = transfer
        client.transferLasts()
        transfer.start()
    }

    @discardableResult
    func stop(_ id: TransferID) -> TransferMetrics? {
        guard let transfer = running.removeValue(forKey: id) else { return next.stop(id) }
        transfer.stop()
        return transfer.metrics
    }

    func resumeReceiving(_ id: TransferID) {
        guard let transfer = running[id] else { return next.resumeReceiving(id) }
        transfer.deliverMore()
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
        transfer.isPaused = true
    }

    func resume(_ id: TransferID) {
        guard let transfer = running[id] else { return next.resume(id) }
        transfer.isPaused = false
        transfer.deliverMore()
    }

    func sentCount(_ id: TransferID) -> Int64 { running[id] == nil ? next.sentCount(id) : .max }

    /// Admits a transfer at once. A request that passes through to the network waits there when it starts,
    /// with its files open.
    func reserve(_ reservation: Reservation, whenAdmitted: @escaping @Sendable () -> Void) {
        whenAdmitted()
    }
}

extension RequestStubs: TransferLayering {
    func layer(over next: any TransferRunning) -> any TransferRunning {
        StubbedTransfers(self, over: next)
    }
}
