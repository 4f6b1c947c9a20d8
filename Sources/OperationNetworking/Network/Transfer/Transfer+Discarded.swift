internal import OperationNetworkingSystem

// What libcurl receives and keeps to itself has an end, too.
extension Transfer {
    func countDiscarded() {
        discarded.begin(now: clock.now)
        easy.reportProgress()
    }

    /// A proxy that is asked to CONNECT once more has as much to say as the first time.
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

    /// Why a transfer is given up whose server, or proxy, does not come to an end with what libcurl keeps to
    /// itself.
    private var endlessAnswer: TransferError {
        guard let proxy = request.trustDomain.proxy, heads.isRefusedByProxy || heads.isEmpty else {
            return .endlessAnswer
        }
        return .proxy(.failed(proxy: proxy.address, reason: "its answer does not end", mayPass: false))
    }
}
