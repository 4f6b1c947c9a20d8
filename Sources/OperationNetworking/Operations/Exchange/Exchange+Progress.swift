import Dispatch
internal import OperationNetworkingSystem

// Progress while a body comes or goes. The last report is that of the end.
extension Exchange {
    /// Tells a report; without one, what was counted is told soon.
    func tellDownload(_ report: ProgressReport?) {
        guard let report else { return tellProgressSoon() }
        owner?.exchangeDidDownload(report)
    }

    /// The same for the request's body.
    func tellUpload(_ report: ProgressReport?) {
        guard let report else { return tellProgressSoon() }
        owner?.exchangeDidUpload(report)
    }

    /// The server may send nothing more for long: then what has come by now is told nevertheless.
    func tellProgressSoon() {
        guard meters.areBehind, !meters.looksAgain else { return }
        meters.looksAgain = true
        NetworkThread.shared.perform { [weak self] room in
            guard room.progressRound.add({ [weak self] in self?.tellProgress() }) else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + ProgressMeter.interval) {
                NetworkThread.shared.perform { room in
                    for tell in room.progressRound.takeAll() { tell() }
                }
            }
        }
    }

    private func tellProgress() {
        meters.looksAgain = false
        // In a pause no one is told, and afterwards it is told soon.
        guard owner != nil else { return }
        tick()
        if let report = meters.download.catchUp(now: now) { owner?.exchangeDidDownload(report) }
        if let report = meters.upload.catchUp(now: now) { owner?.exchangeDidUpload(report) }
        tellProgressSoon()
    }
}
