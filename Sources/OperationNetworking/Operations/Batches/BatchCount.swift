/// Counts the finished members of a batch. A pure value, without side effects.
///
/// | event of a member              | has ended                    | result is known |
/// |--------------------------------|------------------------------|-----------------|
/// | ``Event/cancelledBeforeStart`` | no: when its queue starts it | yes             |
/// | ``Event/ended``                | yes                          | yes             |
///
/// An event that is repeated, or follows the end, has no effect. For a `DownloadBatch`, which makes its
/// members' operations itself, a member has ended as soon as its result is known. A cancelled member has not
/// failed.
struct BatchCount: Sendable {
    enum Event: Hashable, Sendable {
        /// It was cancelled while waiting in its queue, which may be suspended.
        case cancelledBeforeStart
        /// Its last callback, if any, has returned; or it was released without ever having been started.
        case ended
    }

    private enum MemberState {
        case running
        case cancelled
        case ended
    }

    private var states: [MemberState]
    /// The number of inner batches that are not complete.
    private var batches: Int
    private var cancelledCount = 0
    /// The number of members that have ended.
    private(set) var endedCount = 0
    /// The index of the first member that failed.
    private(set) var firstFailure: Int?

    init(members: Int, batches: Int = 0) {
        states = Array(repeating: .running, count: members)
        self.batches = batches
    }

    /// The number of members.
    var total: Int { states.count }

    /// Whether all members have ended and all inner batches are complete.
    var haveAllEnded: Bool { endedCount == total && batches == 0 }

    /// Whether the only members that have not ended are ones that were cancelled before their start, and
    /// there are some.
    var isKnownEarly: Bool { cancelledCount > 0 && endedCount + cancelledCount == total }

    func hasEnded(_ index: Int) -> Bool { states[index] == .ended }

    /// Counts an event of a member.
    /// - Returns: whether the event ends the member.
    mutating func record(_ event: Event, of index: Int) -> Bool {
        let state = states[index]
        switch (event, state) {
        case (_, .ended), (.cancelledBeforeStart, .cancelled):
            return false
        case (.cancelledBeforeStart, .running):
            states[index] = .cancelled
            cancelledCount += 1
            return false
        case (.ended, .running), (.ended, .cancelled):
            if state == .cancelled { cancelledCount -= 1 }
            states[index] = .ended
            endedCount += 1
            return true
        }
    }

    /// Records that a member has failed; its end follows.
    /// - Returns: whether it is the first failure.
    mutating func fail(_ index: Int) -> Bool {
        guard firstFailure == nil else { return false }
        firstFailure = index
        return true
    }

    /// Records that an inner batch is complete.
    mutating func batchDidComplete() { batches -= 1 }
}
