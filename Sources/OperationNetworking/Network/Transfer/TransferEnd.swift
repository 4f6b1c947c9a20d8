/// How a transfer ended.
struct TransferEnd: Sendable {
    /// Whose end it is.
    var id: TransferID
    /// `nil`: completely, every byte of it, as far as HTTP can tell.
    var error: TransferError?
    var metrics: TransferMetrics

    /// Whether it only found no connection left.
    var isSentBack: Bool {
        if case .noConnectionLeft = error { true } else { false }
    }
}
