/// A member of a batch, as the batch sees it once it has ended: ``ConnectionOperation``.
protocol BatchMember: AnyObject, Sendable {
    var error: (any Error)? { get }
    var isCancelled: Bool { get }
}

/// Hears from the seats of a batch how its members fare.
protocol BatchSeatOwner: AnyObject, Sendable {
    /// On any thread.
    func record(_ change: (inout BatchEstimate) -> Void)

    /// The member has ended: its last callback has returned, if it has any. On any thread.
    func memberDidFinish(_ index: Int, _ member: any BatchMember)

    /// The member was cancelled, and its queue has not started it: it ends when the queue does. On any thread.
    func memberWasCancelledBeforeStart(_ index: Int)

    /// The member has finished, or has no owner any longer.
    func memberLeft(_ index: Int)
}

/// A membership of an operation in a batch: reports the member's progress and end to it.
///
/// The operation keeps its seats until its end counts; no other object does. So a member that is released
/// without ever having been started leaves its seat, and the batch does not wait for it.
final class BatchSeat: Sendable {
    private let count: any BatchSeatOwner
    private let index: Int

    init(_ index: Int, of count: any BatchSeatOwner) {
        self.index = index
        self.count = count
    }

    deinit { count.memberLeft(index) }

    /// A body begins to come, from `offset`. -1: its length is unknown. On any thread, as the next two, one
    /// after the other.
    func didBegin(at offset: Int64, length: Int64) {
        count.record { $0.begin(index, at: offset, length: length) }
    }

    func didDownload(_ report: ProgressReport) {
        count.record { $0.download(index, total: report.total, length: report.expected) }
    }

    func didUpload(_ report: ProgressReport) {
        count.record { $0.upload(index, total: report.total, length: report.expected) }
    }

    /// The member was cancelled, and its queue has not started it: it ends when the queue does.
    func wasCancelledBeforeStart() {
        count.memberWasCancelledBeforeStart(index)
    }

    /// The member has ended: its last callback has returned, if it has any.
    func didFinish(_ member: any BatchMember) {
        count.memberDidFinish(index, member)
    }
}
