internal import OperationNetworkingSystem

/// The transfers that run, by their numbers and by their handles.
struct RunningTransfers {
    private var byID: [TransferID: RunningTransfer] = [:]
    private var byHandle: [ObjectIdentifier: TransferID] = [:]

    var count: Int { byID.count }

    subscript(_ id: TransferID) -> RunningTransfer? { byID[id] }

    /// The transfer of a handle that libcurl has finished; `nil`: it was stopped.
    subscript(_ easy: EasyHandle) -> RunningTransfer? {
        byHandle[ObjectIdentifier(easy)].flatMap { byID[$0] }
    }

    mutating func insert(_ running: RunningTransfer) {
        byID[running.transfer.id] = running
        byHandle[ObjectIdentifier(running.transfer.easy)] = running.transfer.id
    }

    mutating func remove(_ id: TransferID) -> RunningTransfer? {
        guard let removed = byID.removeValue(forKey: id) else { return nil }
        byHandle[ObjectIdentifier(removed.transfer.easy)] = nil
        return removed
    }

    /// A look at a transfer that stalls is entered, or was the last one.
    /// - Returns: whether that is news.
    @discardableResult
    mutating func watch(_ id: TransferID, _ isWatched: Bool) -> Bool {
        guard let known = byID[id]?.isWatched, known != isWatched else { return false }
        byID[id]?.isWatched = isWatched
        return true
    }
}
