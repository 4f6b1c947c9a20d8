/// A transfer that has started, with its place among the others.
struct RunningTransfer {
    let transfer: Transfer
    let domain: TransferDomain
    let domainNumber: UInt32
    let rank: WaitingRank
    /// Whether a look at its stall is due: see ``TransferAlarms``.
    var isWatched = false
}
