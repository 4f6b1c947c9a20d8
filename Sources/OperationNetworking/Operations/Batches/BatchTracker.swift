import Dispatch
internal import OperationNetworkingSystem

/// Tracks the members of a batch: counts finished members, measures their bytes, and makes the batch's
/// callbacks. Can be used from any thread.
///
/// The members retain it through their memberships. It retains a member only after that has ended, so a batch
/// whose members were released is released with them.
///
/// 1. A member's last callback returns on the member's completion queue; one without callbacks has finished.
/// 2. If it is the first that failed, `.stopAtFirstFailure` cancels the others, those first that have not
///    started.
/// 3. On the batch's queue, which is serial and targets the completion queue: `progress` with the next count.
/// 4. When all have ended, and the batches within are complete: the last value of the `Progress`,
///    `completion`, the last of `operations`, and `results()`.
final class BatchTracker: Sendable {
    private struct State {
        var count: BatchCount
        /// The operations that have ended, by index; empty before the first one.
        var ended: [ConnectionOperation?] = []
        var whenFirstFailed: (@Sendable () -> Void)?
        var whenAllEnded: (@Sendable (BatchTracker) -> Void)?
        var whenKnown: [@Sendable () -> Void] = []
        /// `nil` once the batch is complete.
        var whenComplete: [@Sendable () -> Void]? = []

        mutating func keep(_ member: ConnectionOperation, at index: Int) {
            if ended.isEmpty { ended = Array(repeating: nil, count: count.total) }
            ended[index] = member
        }
    }

    /// Measures the members' bytes.
    let gauge: BatchGauge
    /// The user's closures, called on the batch's queue.
    let line: CallbackQueue
    private let hasClosures: Bool
    private let hasOwnQueue: Bool
    private let progress: BatchProgressHandler?
    private let state: Locked<State>

    /// - Parameters:
    ///   - estimate: an estimate for all members.
    ///   - batches: the number of inner batches.
    ///   - completionQueue: `nil` for the main queue.
    ///   - hasClosures: whether the user gave a closure.
    ///   - progress: called with the number of ended members each time a member has ended.
    init(
        _ estimate: BatchEstimate,
        batches: Int = 0,
        completionQueue: DispatchQueue?,
        hasClosures: Bool,
        progress: BatchProgressHandler? = nil
    ) {
        gauge = BatchGauge(estimate, completionQueue: completionQueue)
        line = CallbackQueue(on: gauge.queue)
        self.hasClosures = hasClosures
        hasOwnQueue = completionQueue.map { !MainQueue.isItself($0) } ?? false
        self.progress = progress
        state = Locked(State(count: BatchCount(members: estimate.count, batches: batches)))
    }

    /// Begins to track.
    ///
    /// - Parameters:
    ///   - batches: the inner batches.
    ///   - whenFirstFailed: called once, before the first failed member is counted as ended.
    ///   - whenAllEnded: called once, when all members have ended and the inner batches are complete. It must
    ///     call ``conclude(_:then:)``.
    func begin(
        after batches: [BatchTracker] = [],
        whenFirstFailed: (@Sendable () -> Void)? = nil,
        whenAllEnded: @escaping @Sendable (BatchTracker) -> Void
    ) {
        change { state in
            state.whenFirstFailed = whenFirstFailed
            state.whenAllEnded = whenAllEnded
        }
        for batch in batches { batch.whenComplete { self.change { $0.count.batchDidComplete() } } }
    }

    // MARK: - Members

    /// Counts an event of a member. If the member is an operation, the tracker retains it once it has ended.
    func record(_ event: BatchCount.Event, of index: Int, _ member: ConnectionOperation? = nil) {
        if event == .ended, let member, member.error != nil, !member.isCancelled, fail(index) {
            state.withLock { $0.whenFirstFailed.take() }?()
        }
        change { state in
            guard state.count.record(event, of: index) else { return }
            if let member { state.keep(member, at: index) }
            // With the lock held, so that counts are in order, and precede the end of the batch.
            gauge.record { $0.finish(index) }
            guard let progress else { return }
            let (endedCount, total) = (state.count.endedCount, state.count.total)
            line.append { Callback.here(progress, endedCount, total) }
        }
    }

    /// Records that a member has failed; its end follows.
    /// - Returns: whether it is the first failure.
    func fail(_ index: Int) -> Bool { state.withLock { $0.count.fail(index) } }

    /// Records the end of a member that was released.
    func memberWasReleased(_ index: Int) {
        guard !state.withLock({ $0.count.hasEnded(index) }) else { return }
        // Not on this thread, which may hold any lock while it releases a member.
        ConnectionOperation.processingQueue.async { self.record(.ended, of: index) }
    }

    private func change(_ body: (inout State) -> Void) {
        let (whenKnown, whenAllEnded) = state.withLock { state in
            body(&state)
            var known: [@Sendable () -> Void] = []
            if state.count.isKnownEarly { swap(&known, &state.whenKnown) }
            return (known, state.count.haveAllEnded ? state.whenAllEnded.take() : nil)
        }
        for body in whenKnown { body() }
        whenAllEnded?(self)
    }

    /// The operations that have ended, in the order of the members.
    var endedMembers: [ConnectionOperation] {
        state.withLock { $0.ended }.compactMap(\.self)
    }

    /// The index of the first member that failed.
    var firstFailure: Int? { state.withLock { $0.count.firstFailure } }

    // MARK: - The end

    /// Completes the batch: ends its updates, publishes the last value of its `Progress`, makes `call`, and
    /// then calls `body` and everything that waits for completion: at once, or after these on the queue if it has
    /// to run: see ``Audience``.
    func conclude(_ call: CallbackQueue.Call? = nil, then body: @escaping @Sendable () -> Void = {}) {
        let publishes = gauge.endUpdates()
        let end: @Sendable () -> Void = {
            body()
            self.complete()
        }
        guard hasClosures || (publishes && hasOwnQueue) else {
            if publishes { gauge.queue.async { [gauge] in gauge.publish() } }
            return end()
        }
        line.append {
            self.gauge.publish()
            return nil
        }
        if let call { line.append(call) }
        line.append {
            end()
            return nil
        }
    }

    private func complete() {
        let bodies = state.withLock { state in
            defer { (state.whenKnown, state.whenComplete) = ([], nil) }
            return state.whenKnown + (state.whenComplete ?? [])
        }
        for body in bodies { body() }
    }

    /// Calls `body` when the batch is complete, on the thread that completes it; at once if it already is.
    private func whenComplete(_ body: @escaping @Sendable () -> Void) {
        let isComplete = state.withLock { state in
            state.whenComplete?.append(body)
            return state.whenComplete == nil
        }
        if isComplete { body() }
    }

    /// Calls `body` once when the batch is complete, or when its results are known earlier; on any thread,
    /// possibly at once.
    func whenKnown(_ body: @escaping @Sendable () -> Void) {
        let isKnown = state.withLock { state in
            guard state.whenComplete != nil, !state.count.isKnownEarly else { return true }
            state.whenKnown.append(body)
            return false
        }
        if isKnown { body() }
    }
}
