import Dispatch
internal import OperationNetworkingSystem

// Progress while a body comes or goes. The last report is that of the end.
extension Exchange {
    /// Tells a report; without one, what was counted is told soon.
    func tellDownload(_ report: ProgressReport?) {
        guard let report else { return tellProgressSoon() }
        owner?.exchangeDidDownload(report)
    }

    /// Counts bytes of the request's body that have left this machine: as many as the kernel says.
    func countUpload(_ sent: Int64) {
        meters.noteSent(sent)
        guard let report = meters.uploadReport(now: now) else { return tellProgressSoon() }
        owner?.exchangeDidUpload(report)
    }

    /// The server may send nothing more for long: then what has come by now is told nevertheless.
    func tellProgressSoon() {
        guard meters.areBehind || meters.isUploading && machine.isTransferring, !meters.looksAgain else {
            return
        }
        meters.looksAgain = true
        NetworkThread.shared.perform { [weak self] room in
            guard room.progressRound.add({ [weak self, unowned room] in self?.tellProgress(room) }) else {
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + ProgressMeter.interval) {
                NetworkThread.shared.perform { room in
                    for tell in room.progressRound.takeAll() { tell() }
                }
            }
        }
    }

    private func tellProgress(_ room: NetworkRoom) {
        meters.looksAgain = false
        // In a pause no one is told, and afterwards it is told soon.
        guard owner != nil else { return }
        tick()
        if let report = meters.download.catchUp(now: now) { owner?.exchangeDidDownload(report) }
        let sent = meters.isUploading ? machine.transfer.map { runner(room).sentCount($0) } : nil
        countUpload(sent ?? 0)
        tellProgressSoon()
    }
}
