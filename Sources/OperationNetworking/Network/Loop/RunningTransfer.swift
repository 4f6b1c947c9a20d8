/// A transfer that has started, with its place among the others.
struct RunningTransfer {
    let transfer: Transfer
    let domain: TransferDomain
    let domainNumber: UInt32
    let rank: WaitingRank
    /// Whether ``Transfers/stalled`` has it.
    var isWatched = false
}
