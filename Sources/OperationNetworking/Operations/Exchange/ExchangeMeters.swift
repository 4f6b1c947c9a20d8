/// The measures of an exchange: bytes that come and go, and the costs of its transfers. A value.
struct ExchangeMeters {
    var download = ProgressMeter()
    var upload = ProgressMeter()
    var log = TransferLog()
    /// Whether the exchange is among those that look again soon: ``Exchange/tellProgressSoon()``.
    var looksAgain = false

    /// Whether progress was made that no report has told.
    var areBehind: Bool { download.isBehind || upload.isBehind }
}
