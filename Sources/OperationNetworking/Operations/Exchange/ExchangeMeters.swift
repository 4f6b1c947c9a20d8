internal import OperationNetworkingSystem

/// The measures of an exchange: bytes that come and go, and the costs of its transfers. A value.
struct ExchangeMeters {
    var download = ProgressMeter()
    /// Of bytes that have left this machine.
    private(set) var upload = ProgressMeter()
    /// Bytes of the request's body that were taken from its source.
    private(set) var taken: Int64 = 0
    var log = TransferLog()
    /// Whether the transfer lasts long enough for its upload to be watched.
    var hasLasted = false
    /// Whether the exchange is among those that look again soon: ``Exchange/tellProgressSoon()``.
    var looksAgain = false

    /// Whether progress was made that no report has told.
    var areBehind: Bool { download.isBehind || upload.isBehind }

    // MARK: - The request's body

    /// Whether bytes of it may still be here.
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

    mutating func take(_ count: Int) {
        taken += Int64(count)
    }

    /// `count` bytes of it have left this machine.
    mutating func noteSent(_ count: Int64) {
        let new = min(count, taken) - upload.total
        if new > 0 { upload.count(Int(new)) }
    }

    mutating func uploadReport(now: MonotonicTime) -> ProgressReport? { upload.catchUp(now: now) }

    mutating func lastUploadReport(now: MonotonicTime) -> ProgressReport? { upload.finish(now: now) }
}
