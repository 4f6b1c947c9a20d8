internal import OperationNetworkingSystem

/// A transfer that has started, with its place among the others.
struct RunningTransfer {
    let transfer: Transfer
    let domain: TransferDomain
    let domainNumber: UInt32
    /// Whether a check for a stall is scheduled: see ``TransferAlarms``.
    fileprivate(set) var isWatched = false

    init(_ transfer: Transfer, in domain: TransferDomain, _ domainNumber: UInt32) {
        self.transfer = transfer
        self.domain = domain
        self.domainNumber = domainNumber
    }
}

/// The running transfers, by their numbers.
struct RunningTransfers {
    private var byID = TransferTable<RunningTransfer>()

    var count: Int { byID.count }
    /// The number of files that they are about to open.
    var expectedFiles: Int {
        let destinations = byID.count { $0.transfer.request.opensDestination }
        return byID.count { $0.transfer.opensBody }
            + max(0, destinations - CountedFiles.count(of: .openDestination))
    }

    subscript(_ id: TransferID) -> RunningTransfer? { byID[id] }

    /// The transfer of a handle that libcurl has finished; `nil` if it was stopped.
    subscript(_ easy: EasyHandle) -> RunningTransfer? { byID[TransferID(tag: easy.tag)] }

    mutating func insert(_ running: RunningTransfer) {
        byID[running.transfer.id] = running
    }

    mutating func remove(_ id: TransferID) -> RunningTransfer? {
        byID.remove(id)
    }

    /// Records that a check of a stalled transfer was scheduled, or was the last one.
    /// - Returns: whether that is a change.
    @discardableResult
    mutating func watch(_ id: TransferID, _ isWatched: Bool) -> Bool {
        guard var known = byID[id], known.isWatched != isWatched else { return false }
        known.isWatched = isWatched
        byID[id] = known
        return true
    }
}
