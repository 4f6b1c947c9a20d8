/// The end of a transfer.
struct TransferEnd: Sendable {
    /// The transfer that ended.
    var id: TransferID
    /// `nil`: completely, every byte of it, as far as HTTP can tell.
    var error: TransferError?
    var metrics: TransferMetrics

    /// Whether it only found no connection left.
    var isSentBack: Bool {
        if case .noConnectionLeft = error { true } else { false }
    }
}
