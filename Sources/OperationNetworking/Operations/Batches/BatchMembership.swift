internal import OperationNetworkingSystem

/// A membership of an operation in a batch: reports the member's progress and end to it. Can be used from any thread.
///
/// The operation keeps it until its end counts; no other object does. So a member that is released without ever having
/// been started ends the membership, and the batch does not wait for it.
final class BatchMembership: Sendable {
    private let tracker: BatchTracker
    private let index: Int
    private let countsEnds: Bool

    /// - Parameters:
    ///   - index: the member's.
    ///   - tracker: of the batch.
    ///   - countsEnds: whether the end of the operation is that of the member. A member of a `DownloadBatch` may begin
    ///     again, with another operation.
    init(_ index: Int, of tracker: BatchTracker, countsEnds: Bool = true) {
        self.index = index
        self.tracker = tracker
        self.countsEnds = countsEnds
    }

    deinit {
        if countsEnds { tracker.memberWasReleased(index) }
    }

    /// A body begins to come, from `offset`. -1: its length is unknown.
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
    /// The event that batches of the operation count now; `nil`: none yet.
    fileprivate var batchEvent: BatchCount.Event? {
        if isDelivered { return .ended }
        return machine.isCancelledBeforeStart ? .cancelledBeforeStart : nil
    }
}

extension ConnectionOperation {
    /// Makes the operation a member of a batch.
    func join(_ membership: BatchMembership) {
        state.withLock { if !$0.isDelivered { $0.memberships.append(membership) } }
        report(to: [membership])
    }

    /// Reports to batches what they count of the operation now, if anything. It may be reported more than once.
    func report(to memberships: [BatchMembership]) {
        guard !memberships.isEmpty, let event = state.withLock({ $0.batchEvent }) else { return }
        for membership in memberships { membership.report(event, of: self) }
    }
}
