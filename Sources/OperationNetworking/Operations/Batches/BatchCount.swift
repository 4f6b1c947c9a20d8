import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Called for each member of a batch that has ended: with the number of those, and of all.
public typealias BatchProgressHandler = @isolated(any) @Sendable (_ ended: Int, _ total: Int) -> Void

/// Counts the members of a batch, and tells when all have ended.
///
/// The members keep it, by their seats. It keeps a member only after that has finished: a batch whose members
/// were dropped goes with them.
final class BatchCount: Sendable {
    private struct State {
        /// By index; those that have not finished, or left, are not there.
        var finished: [(any BatchMember)?]
        var hasEnded: [Bool]
        /// Members that have not been told, batches within that have not completed, and the batch while it is
        /// being made.
        var missing: Int
        /// Members that have not ended.
        var running: Int
        /// Those of them that were cancelled, and that their queue has not started.
        var cancelled: Set<Int> = []
        /// The index of the first member that failed.
        var failure: Int?
        var whenFailed: (@Sendable () -> Void)?
        var body: (@Sendable () -> Void)?
    }

    /// Counts their bytes.
    let gauge: BatchGauge
    /// Happens after everything that was told of the members.
    let completion = BatchCompletion()
    /// The calls of closures.
    private let line: CallbackQueue
    /// Happens when only such members are left as were cancelled before their start.
    private let cancellation = BatchCompletion()
    private let told = Locked(0)
    private let total: Int
    private let heard: BatchProgressHandler?
    private let state: Locked<State>

    /// `heard` hears, on `queue`, how many of how many members have ended.
    init(total: Int, completionQueue: DispatchQueue?, heard: BatchProgressHandler?) {
        self.total = total
        self.heard = heard
        gauge = BatchGauge(BatchEstimate(count: total), completionQueue: completionQueue)
        line = CallbackQueue(on: gauge.queue)
        state = Locked(
            State(
                finished: Array(repeating: nil, count: total),
                hasEnded: Array(repeating: false, count: total),
                missing: total + 1,
                running: total
            )
        )
    }

    /// Begins to count.
    ///
    /// - Parameters:
    ///   - others: batches that have to complete before.
    ///   - tell: makes the call of the user's closure when all have ended, after everything that was told of
    ///     the members; `nil`: there is none.
    ///   - body: called after that, before the waiting tasks go on: on the queue; without an audience on any
    ///     thread.
    func begin(
        after others: [BatchCount],
        tell: CallbackQueue.Call?,
        then body: @escaping @Sendable () -> Void
    ) {
        let hasClosures = heard != nil || tell != nil
        state.withLock { state in
            state.missing += others.count
            // Called by a method of this object, which keeps itself from then on.
            state.body = { [unowned self] in
                let count = self
                let end: @Sendable () -> Void = {
                    body()
                    count.completion.complete()
                }
                count.gauge.conclude(hasClosures: hasClosures) {
                    guard let tell else { return end() }
                    count.line.append(tell)
                    count.line.append {
                        end()
                        return nil
                    }
                }
            }
        }
        for other in others { other.completion.whenComplete { self.leave() } }
        leave()
    }

    /// Calls `body` when the batch is complete, or when all members that have not ended were cancelled before
    /// their queue had started them: a suspended queue keeps them, and their results are known. It may be
    /// called twice, on any thread.
    func whenKnown(_ body: @escaping @Sendable () -> Void) {
        completion.whenComplete(body)
        cancellation.whenComplete(body)
    }

    private func noteCancelled(_ change: (inout State) -> Void) {
        let isKnown = state.withLock { state in
            change(&state)
            return !state.cancelled.isEmpty && state.cancelled.count == state.running
        }
        if isKnown { cancellation.complete() }
    }

    /// One is not waited for any longer.
    private func leave() {
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            state.missing -= 1
            guard state.missing == 0 else { return nil }
            defer { state.body = nil }
            return state.body
        }
        body?()
    }

    /// Calls `body` once, when the first member has failed: on any thread.
    func whenFirstFailed(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenFailed = body }
    }

    var finished: [(any BatchMember)?] { state.withLock { $0.finished } }

    var failure: (any BatchMember)? {
        state.withLock { state in state.failure.flatMap { state.finished[$0] } }
    }
}

// MARK: - BatchSeatOwner

extension BatchCount: BatchSeatOwner {
    func record(_ change: (inout BatchEstimate) -> Void) {
        gauge.record(change)
    }

    func memberDidFinish(_ index: Int, _ member: any BatchMember) {
        let failed = state.withLock { state -> (@Sendable () -> Void)? in
            state.finished[index] = member
            guard state.failure == nil, member.error != nil, !member.isCancelled else { return nil }
            state.failure = index
            defer { state.whenFailed = nil }
            return state.whenFailed
        }
        failed?()
        memberDidEnd(index)
    }

    func memberWasCancelledBeforeStart(_ index: Int) {
        noteCancelled { state in
            if !state.hasEnded[index] { state.cancelled.insert(index) }
        }
    }

    func memberLeft(_ index: Int) {
        guard !state.withLock({ $0.hasEnded[index] }) else { return }
        // Not on this thread: it may hold any lock while it lets go of a member.
        ConnectionOperation.processingQueue.async { self.memberDidEnd(index) }
    }

    /// The member has finished, or has no owner any longer.
    private func memberDidEnd(_ index: Int) {
        let isFirst = state.withLock { state in
            guard !state.hasEnded[index] else { return false }
            state.hasEnded[index] = true
            return true
        }
        guard isFirst else { return }
        noteCancelled { state in
            state.running -= 1
            state.cancelled.remove(index)
        }
        gauge.record { $0.finish(index) }
        guard let heard else { return leave() }
        line.append {
            let count = self.told.withLock { told in
                told += 1
                return told
            }
            return Callback.here(heard, count, self.total)
        }
        line.append {
            self.leave()
            return nil
        }
    }
}

/// The progress of a batch at one moment: an element of ``OperationBatch/updates`` and
/// ``DownloadBatch/updates``.
public struct BatchProgress: Hashable, Sendable {
    /// The fraction that is done, from 0 to 1; never goes down.
    public let fractionCompleted: Double
    /// The reliability of ``fractionCompleted``.
    public let confidence: BatchConfidence
    /// Bytes that came and went, together with those that were there before a resumption.
    public let completedBytes: Int64
    /// Bytes of all members, as far as they are known, and estimated by those for the others; `nil`: nothing
    /// is known.
    public let totalBytes: Int64?
    /// Bytes per second, of the last few seconds most; `nil` at first.
    public let throughput: Double?
    /// The seconds until all bytes will have come; `nil` while that is unknown.
    public let estimatedTimeRemaining: Double?
}
