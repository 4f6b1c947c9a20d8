internal import OperationNetworkingSystem

// Limits for bytes that libcurl receives and does not deliver.
extension Transfer {
    func countDiscarded() {
        discarded.begin(now: clock.now)
        easy.reportProgress()
    }

    /// The limit starts afresh for each CONNECT.
    func easyHandleWillConnect() {
        if request.usesTunnel { discarded = DiscardedByteCounter(usesTunnel: true) }
    }

    func easyHandleDidProgress(received: Int64) -> Bool {
        guard discarded.isOn else { return true }
        guard let hasMoved = discarded.didProgress(received: received, now: clock.now) else {
            return give(up: endlessAnswer)
        }
        if hasMoved { didMove() }
        return true
    }

    /// The error of a transfer whose server or proxy sends endless bytes that libcurl does not deliver.
    private var endlessAnswer: TransferError {
        guard let proxy = request.trustDomain.proxy, heads.isRefusedByProxy || heads.isEmpty else {
            return .endlessAnswer
        }
        return .proxy(.failed(proxy: proxy.address, reason: "its response does not end", isTemporary: false))
    }
}
