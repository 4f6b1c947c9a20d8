internal import OperationNetworkingSystem

/// An operation's membership in a batch: reports the member's progress and end to the batch. Can be used from
/// any thread.
///
/// Only the operation retains it, until completion counts for batches. So a member that is released without
/// ever having been started ends the membership, and the batch does not wait for it.
final class BatchMembership: Sendable {
    private let tracker: BatchTracker
    private let index: Int
    private let countsEnds: Bool

    /// - Parameters:
    ///   - index: the member's.
    ///   - tracker: of the batch.
    ///   - countsEnds: whether the end of the operation is the end of the member. A member of a
    ///     `DownloadBatch` may start over with another operation.
    init(_ index: Int, of tracker: BatchTracker, countsEnds: Bool = true) {
        self.index = index
        self.tracker = tracker
        self.countsEnds = countsEnds
    }

    deinit {
        if countsEnds { tracker.memberWasReleased(index) }
    }

    /// Records the start of a body at `offset`. A `length` of -1 means unknown.
    func didBegin(at offset: Int64, length: Int64) {
        tracker.gauge.record { $0.begin(index, at: offset, length: length) }
    }

    func didDownload(_ report: ProgressReport) {
        tracker.gauge.record { $0.download(index, total: report.total, length: report.expected) }
    }

    func didUpload(_ report: ProgressReport) {
        tracker.gauge.record { $0.upload(index, total: report.total, length: report.expected) }
    }

    fileprivate func report(_ event: BatchCount.Event, of member: ConnectionOperation) {
        if countsEnds { tracker.record(event, of: index, member) }
    }
}

extension OperationState {
    /// The event that a batch counts now; `nil` if there is none yet.
    ///
    /// | operation                        | `OperationBatch`     | `DownloadBatch`: ends when known |
    /// |----------------------------------|----------------------|----------------------------------|
    /// | cancelled before its start       | cancelledBeforeStart | ended                            |
    /// | finished                         | -                    | ended                            |
    /// | its last callback has returned   | ended                | ended                            |
    func batchEvent(endsWhenKnown: Bool = false) -> BatchCount.Event? {
        if endsWhenKnown ? isKnown : isDelivered { return .ended }
        return machine.isCancelledBeforeStart ? .cancelledBeforeStart : nil
    }

    /// Whether the results are final, or the operation was cancelled before it started.
    var isKnown: Bool { machine.isFinal || machine.isCancelledBeforeStart }
}

extension ConnectionOperation {
    /// Makes the operation a member of a batch.
    func join(_ membership: BatchMembership) {
        state.withLock { if !$0.isDelivered { $0.memberships.append(membership) } }
        report(to: [membership])
    }

    /// Reports the operation's current event to batches, if there is one. May report it more than once.
    func report(to memberships: [BatchMembership]) {
        guard !memberships.isEmpty, let event = state.withLock({ $0.batchEvent() }) else { return }
        for membership in memberships { membership.report(event, of: self) }
    }
}
