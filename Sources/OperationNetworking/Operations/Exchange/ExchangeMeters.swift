import Dispatch
internal import OperationNetworkingSystem

/// The measurements of an exchange: bytes received and sent, and the costs of its transfers. A value.
struct ExchangeMeters {
    var download = ProgressMeter()
    /// Counts bytes that have left this machine.
    var upload = ProgressMeter()
    /// The bytes of the request's body that were read from its source.
    private var taken: Int64 = 0
    var log = TransferLog()
    /// Whether the transfer has lasted long enough for its upload to be watched.
    var hasLasted = false
    /// Whether the exchange has scheduled a progress check: ``Exchange/scheduleProgress()``.
    fileprivate var isProgressScheduled = false

    /// Whether there is unreported progress.
    fileprivate var areBehind: Bool { download.isBehind || upload.isBehind }

    /// Whether bytes of the request's body may not have left this machine yet.
    var isUploading: Bool { taken > upload.total }

    /// Begins a request; `nil` if it has no body.
    mutating func beginRequest(_ body: RequestBody?) {
        guard let body else { return taken = upload.total }
        restartUpload(at: 0)
        upload.expected = body.length ?? -1
    }

    mutating func restartUpload(at offset: Int64) {
        taken = offset
        upload.restart(at: offset)
    }

    /// Records that `count` bytes of the request's body were read from its source.
    mutating func take(_ count: Int) {
        taken += Int64(count)
    }

    /// Records that `count` bytes of it have left this machine.
    mutating func noteSent(_ count: Int64) {
        let new = min(count, taken) - upload.total
        if new > 0 { upload.count(Int(new)) }
    }

    /// Adds the costs of a transfer that has ended.
    mutating func add(_ end: TransferEnd) {
        noteSent(end.sentCount)
        // A transfer whose token expired in the line does not count.
        if case .expired = end.error, end.metrics.transferCount == 0 { return }
        log.add(end)
    }
}

/// Decides when progress is worth reporting: at most 20 times a second, and always at the end. A value.
///
/// Bytes that arrive soon after a report may be the last for a long time: while ``isBehind``, the exchange
/// checks again after ``interval``.
///
/// Reports never decrease. If a download starts over, nothing is reported until it exceeds the last report;
/// only the final report is always accurate. Until then, ``DownloadOperation/presentProgress`` has the actual
/// number of bytes.
struct ProgressMeter {
    /// Seconds between two reports.
    static let interval = 0.05

    private(set) var total: Int64 = 0
    private var reportedTotal: Int64 = 0
    private var reportedAt: MonotonicTime?
    var expected: Int64 = -1

    /// Counts bytes. Returns the report that is due now, if any.
    mutating func add(_ count: Int, now: MonotonicTime) -> ProgressReport? {
        self.count(count)
        return catchUp(now: now)
    }

    /// Counts bytes that ``catchUp(now:)`` reports.
    mutating func count(_ count: Int) {
        total = total.addingSaturated(Int64(count))
    }

    /// Whether there are unreported bytes.
    var isBehind: Bool { total > reportedTotal }

    /// Returns the report that is due now for the bytes counted before, if any.
    mutating func catchUp(now: MonotonicTime) -> ProgressReport? {
        guard isBehind else { return nil }
        if let reportedAt, now - reportedAt < Self.interval { return nil }
        return report(now: now)
    }

    /// Sets the total: 0 to start over, more to continue.
    mutating func restart(at total: Int64) {
        self.total = total
    }

    /// Returns the final report, unless it has already been made.
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

// Progress of the bodies. The last report is made at the end.
extension Exchange {
    // MARK: - The response's body

    func countDownload(_ bytes: Int) {
        tick()
        guard let report = meters.download.add(bytes, now: now) else { return scheduleProgress() }
        owner?.exchangeDidDownload(report)
    }

    /// Begins a body, after `offset` bytes that are already held.
    func beginBody(after offset: Int64, of total: Int64?) {
        if offset > 0 { owner?.exchangeDidResume(at: offset) }
        meters.download.restart(at: offset)
        meters.download.expected = total ?? -1
        owner?.exchangeWillReceiveBody(at: offset, length: meters.download.expected)
    }

    /// Counts the progress of a complete body: the sink already has every byte.
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
        scheduleProgress()
    }

    /// The bytes are in libcurl's or the kernel's buffer. The kernel is queried only for long transfers.
    func transferDidSend(_ count: Int) {
        meters.take(count)
        if meters.hasLasted { scheduleProgress() }
    }

    func transferDidSeek(to offset: Int64) {
        meters.restartUpload(at: offset)
    }

    /// Counts bytes of the request's body that have left this machine, according to the kernel.
    func countUpload(_ sent: Int64) {
        meters.noteSent(sent)
        guard let report = meters.upload.catchUp(now: now) else { return scheduleProgress() }
        owner?.exchangeDidUpload(report)
    }

    // MARK: - Reports

    /// Schedules a report of the present progress, because the server may send nothing more for a long time.
    func scheduleProgress() {
        guard meters.areBehind || meters.isUploading && machine.isTransferring, !meters.isProgressScheduled
        else {
            return
        }
        meters.isProgressScheduled = true
        NetworkThread.shared.perform { [weak self] network in
            guard network.progressWork.add({ [weak self, unowned network] in self?.checkProgress(network) })
            else {
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + ProgressMeter.interval) {
                NetworkThread.shared.perform { network in
                    for work in network.progressWork.takeAll() { work() }
                }
            }
        }
    }

    private func checkProgress(_ network: NetworkContext) {
        meters.isProgressScheduled = false
        // Not reported during a pause, but soon afterwards.
        guard owner != nil else { return }
        tick()
        if let report = meters.download.catchUp(now: now) { owner?.exchangeDidDownload(report) }
        let sent = meters.isUploading ? machine.transfer.map { runner(network).sentCount($0) } : nil
        countUpload(sent ?? 0)
        scheduleProgress()
    }

    /// Reports the final values of both directions.
    func reportProgress() {
        if let report = meters.download.finish(now: now) { owner?.exchangeDidDownload(report) }
        if let report = meters.upload.finish(now: now) { owner?.exchangeDidUpload(report) }
    }
}
