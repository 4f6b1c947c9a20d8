import Dispatch
internal import OperationNetworkingSystem

/// The measures of an exchange: bytes that come and go, and the costs of its transfers. A value.
struct ExchangeMeters {
    var download = ProgressMeter()
    /// Of bytes that have left this machine.
    var upload = ProgressMeter()
    /// Bytes of the request's body that were taken from its source.
    private var taken: Int64 = 0
    var log = TransferLog()
    /// Whether the transfer lasts long enough for its upload to be watched.
    var hasLasted = false
    /// Whether the exchange is among those that look again soon: ``Exchange/tellProgressSoon()``.
    fileprivate var looksAgain = false

    /// Whether progress was made that no report has told.
    fileprivate var areBehind: Bool { download.isBehind || upload.isBehind }

    /// Whether bytes of the request's body may still be here.
    var isUploading: Bool { taken > upload.total }

    /// A request begins; `nil`: without a body.
    mutating func beginRequest(_ body: RequestBody?) {
        guard let body else { return taken = upload.total }
        restartUpload(at: 0)
        upload.expected = body.length ?? -1
    }

    mutating func restartUpload(at offset: Int64) {
        taken = offset
        upload.restart(at: offset)
    }

    /// `count` bytes of the request's body were taken from its source.
    mutating func take(_ count: Int) {
        taken += Int64(count)
    }

    /// `count` bytes of it have left this machine.
    mutating func noteSent(_ count: Int64) {
        let new = min(count, taken) - upload.total
        if new > 0 { upload.count(Int(new)) }
    }

    /// A transfer has ended.
    mutating func add(_ end: TransferEnd) {
        noteSent(end.sentCount)
        // One whose token expired in the line was none.
        if case .expired = end.error, end.metrics.transferCount == 0 { return }
        log.add(end.metrics)
    }
}

/// Decides when progress is worth reporting: at most 20 times a second, and always at the end. A value.
///
/// After what came too soon after a report, nothing may come for long: while ``isBehind``, the exchange asks
/// once more when ``interval`` has passed.
///
/// Reports never go backwards. When a download has to start again, nothing is reported until it has passed
/// what was reported before; the last report of a transfer is always true. Meanwhile
/// ``DownloadOperation/presentProgress`` tells how many bytes there are.
struct ProgressMeter {
    /// Seconds between two reports.
    static let interval = 0.05

    private(set) var total: Int64 = 0
    private var reportedTotal: Int64 = 0
    private var reportedAt: MonotonicTime?
    var expected: Int64 = -1

    /// Counts bytes; returns what to report now, if anything.
    mutating func add(_ count: Int, now: MonotonicTime) -> ProgressReport? {
        self.count(count)
        return catchUp(now: now)
    }

    /// Counts bytes that ``catchUp(now:)`` tells of.
    mutating func count(_ count: Int) {
        total = total.addingSaturated(Int64(count))
    }

    /// Whether bytes were counted that no report has told.
    var isBehind: Bool { total > reportedTotal }

    /// The report that is due now of the bytes that were counted before, if any.
    mutating func catchUp(now: MonotonicTime) -> ProgressReport? {
        guard isBehind else { return nil }
        if let reportedAt, now - reportedAt < Self.interval { return nil }
        return report(now: now)
    }

    /// Goes to another total: 0 when everything has to come again, more when it continues.
    mutating func restart(at total: Int64) {
        self.total = total
    }

    /// The last report, unless the last one already said it.
    mutating func finish(now: MonotonicTime) -> ProgressReport? {
        guard total != reportedTotal else { return nil }
        return report(now: now)
    }

    private mutating func report(now: MonotonicTime) -> ProgressReport {
        defer {
            reportedTotal = total
            reportedAt = now
        }
        return ProgressReport(bytes: Int(max(0, total - reportedTotal)), total: total, expected: expected)
    }
}

// Progress while a body comes or goes. The last report is that of the end.
extension Exchange {
    // MARK: - The response's body

    func countDownload(_ bytes: Int) {
        tick()
        guard let report = meters.download.add(bytes, now: now) else { return tellProgressSoon() }
        owner?.exchangeDidDownload(report)
    }

    /// The body begins after `offset` bytes that are there.
    func beginBody(after offset: Int64, of total: Int64?) {
        if offset > 0 { owner?.exchangeDidResume(at: offset) }
        meters.download.restart(at: offset)
        meters.download.expected = total ?? -1
        owner?.exchangeWillReceiveBody(at: offset, length: meters.download.expected)
    }

    /// The sink has every byte, so no body comes: the progress is that of one that has nothing left to bring.
    func countKeptWhole() {
        let count = sink.count
        guard count > 0 else { return }
        meters.log.addKept(count)
        beginBody(after: count, of: count)
    }

    // MARK: - The request's body

    func transferLasts() {
        meters.hasLasted = true
        owner?.exchangeLasts()
        tellProgressSoon()
    }

    /// The bytes are in libcurl's buffer, or in the kernel's, which is asked while the transfer lasts. Most end
    /// before.
    func transferDidSend(_ count: Int) {
        meters.take(count)
        if meters.hasLasted { tellProgressSoon() }
    }

    func transferDidSeek(to offset: Int64) {
        meters.restartUpload(at: offset)
    }

    /// Counts bytes of the request's body that have left this machine: as many as the kernel says.
    func countUpload(_ sent: Int64) {
        meters.noteSent(sent)
        guard let report = meters.upload.catchUp(now: now) else { return tellProgressSoon() }
        owner?.exchangeDidUpload(report)
    }

    // MARK: - Reports

    /// The server may send nothing more for long: then what has come by now is told nevertheless.
    func tellProgressSoon() {
        guard meters.areBehind || meters.isUploading && machine.isTransferring, !meters.looksAgain else {
            return
        }
        meters.looksAgain = true
        NetworkThread.shared.perform { [weak self] network in
            guard network.progressRound.add({ [weak self, unowned network] in self?.tellProgress(network) })
            else {
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + ProgressMeter.interval) {
                NetworkThread.shared.perform { network in
                    for tell in network.progressRound.takeAll() { tell() }
                }
            }
        }
    }

    private func tellProgress(_ network: NetworkContext) {
        meters.looksAgain = false
        // In a pause no one is told, and afterwards it is told soon.
        guard owner != nil else { return }
        tick()
        if let report = meters.download.catchUp(now: now) { owner?.exchangeDidDownload(report) }
        let sent = meters.isUploading ? machine.transfer.map { runner(network).sentCount($0) } : nil
        countUpload(sent ?? 0)
        tellProgressSoon()
    }

    /// The last value of both.
    func reportProgress() {
        if let report = meters.download.finish(now: now) { owner?.exchangeDidDownload(report) }
        if let report = meters.upload.finish(now: now) { owner?.exchangeDidUpload(report) }
    }
}
