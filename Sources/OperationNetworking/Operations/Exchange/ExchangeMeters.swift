/// The measures of an exchange: bytes that come and go, and the costs of its transfers. A value.
struct ExchangeMeters {
    var download = ProgressMeter()
    var upload = ProgressMeter()
    var log = TransferLog()
}
