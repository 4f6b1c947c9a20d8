public import Dispatch
public import Foundation
internal import OperationNetworkingSystem

/// Called each time a member of a batch has ended, with the number of ended members and of all members.
public typealias BatchProgressHandler = @isolated(any) @Sendable (_ ended: Int, _ total: Int) -> Void

/// How a batch reacts to a failed member. A cancelled member has not failed.
public enum BatchPolicy: Hashable, Sendable {
    /// All members run to completion.
    case collectAll
    /// The other members are cancelled.
    case stopAtFirstFailure
}

/// A group of operations with common commands, one progress and one completion.
///
/// ```swift
/// let batch = OperationBatch(downloads, policy: .stopAtFirstFailure)
/// batch.add(to: queue)
/// batch.pause()                  // starts nothing, and keeps the received bytes
/// batch.resume()
/// print(batch.fractionCompleted, batch.throughput ?? 0, batch.estimatedTimeRemaining ?? 0)
/// for result in await batch.results() { print(result) }      // in the order of the members
/// ```
///
/// A member has ended when its last callback has been delivered, or when it has finished if it has no
/// closures, observers or overridden hooks. Members may already have finished, may fail, and may be
/// cancelled; an empty batch completes. A member may be in several batches, but only once in each. Every
/// member can be used from any thread. `OperationBatch([])` is an empty batch of ``ConnectionOperation``.
///
/// A batch retains its members. A batch that is released before its start releases them.
public final class OperationBatch<Member: ConnectionOperation>: Sendable {
    /// The members, in the order given. For a batch of batches, the members of one batch after the other.
    public let members: [Member]
    /// The operations to add to one or more queues: the members in order, then an operation that finishes
    /// when the batch has completed. Add that last one only if your code waits for it or another operation
    /// depends on it.
    public let operations: [Operation]
    private let tracker: BatchTracker
    private let isAdded = Locked(false)

    /// Creates a batch of operations.
    ///
    /// - Parameters:
    ///   - members: the operations. Duplicates are ignored.
    ///   - policy: how the batch reacts to a failed member.
    ///   - completionQueue: the queue on which ``progress`` is updated and closures of nonisolated code are
    ///     called, one at a time. `nil` is the main queue, which a batch without closures does not need.
    ///   - progress: called once for each member, with counts from 1 to the number of members.
    ///   - completion: called once, when all members have ended, with the members in order.
    public convenience init(
        _ members: [Member],
        policy: BatchPolicy = .collectAll,
        completionQueue: DispatchQueue? = nil,
        @_inheritActorContext progress: BatchProgressHandler? = nil,
        @_inheritActorContext completion: (@isolated(any) @Sendable ([Member]) -> Void)? = nil
    ) {
        let members = members.distinct
        self.init(
            members,
            operations: members,
            inner: [],
            policy: policy,
            completionQueue: completionQueue,
            progress: progress,
            completion: completion
        )
    }

    /// Creates a batch of batches, which are commanded and counted together. It completes after all of the
    /// given batches. The closures and policy of a given batch apply to its own members only; the policy of
    /// this batch applies to all.
    public convenience init(
        batches: [OperationBatch],
        policy: BatchPolicy = .collectAll,
        completionQueue: DispatchQueue? = nil,
        @_inheritActorContext progress: BatchProgressHandler? = nil,
        @_inheritActorContext completion: (@isolated(any) @Sendable ([Member]) -> Void)? = nil
    ) {
        let members = batches.flatMap(\.members).distinct
        self.init(
            members,
            operations: batches.flatMap(\.operations).distinct,
            inner: batches.map(\.tracker),
            policy: policy,
            completionQueue: completionQueue,
            progress: progress,
            completion: completion
        )
    }

    /// Creates a batch with a trailing `completion` closure.
    public convenience init(
        _ members: [Member],
        policy: BatchPolicy = .collectAll,
        completionQueue: DispatchQueue? = nil,
        @_inheritActorContext completion: @escaping @isolated(any) @Sendable ([Member]) -> Void
    ) {
        self.init(
            members,
            policy: policy,
            completionQueue: completionQueue,
            progress: nil,
            completion: completion
        )
    }

    /// Creates a batch of batches with a trailing `completion` closure.
    public convenience init(
        batches: [OperationBatch],
        policy: BatchPolicy = .collectAll,
        completionQueue: DispatchQueue? = nil,
        @_inheritActorContext completion: @escaping @isolated(any) @Sendable ([Member]) -> Void
    ) {
        self.init(
            batches: batches,
            policy: policy,
            completionQueue: completionQueue,
            progress: nil,
            completion: completion
        )
    }

    private init(
        _ members: [Member],
        operations: [Operation],
        inner: [BatchTracker],
        policy: BatchPolicy,
        completionQueue: DispatchQueue?,
        progress: BatchProgressHandler?,
        completion: (@isolated(any) @Sendable ([Member]) -> Void)?
    ) {
        let end = BatchEndOperation()
        self.members = members
        self.operations = operations + [end]
        tracker = BatchTracker(
            BatchEstimate(count: members.count),
            batches: inner.count,
            completionQueue: completionQueue,
            hasClosures: progress != nil || completion != nil,
            progress: progress
        )
        tracker.gauge.set(
            ReportedProgress.Controls(
                cancel: { [weak self] in self?.cancel() },
                pause: { [weak self] in self?.pause() },
                resume: { [weak self] in self?.resume() }
            )
        )
        var stop: (@Sendable () -> Void)?
        if policy == .stopAtFirstFailure {
            let members = members.map(WeakMember.init)
            stop = { ConnectionOperation.cancelTogether(members.compactMap(\.member)) }
        }
        tracker.begin(after: inner, whenFirstFailed: stop) { tracker in
            let call = completion.map { completion -> CallbackQueue.Call in
                { Callback.here(completion, tracker.endedMembers.compactMap { $0 as? Member }) }
            }
            tracker.conclude(call) { end.allow() }
        }
        for (index, member) in members.enumerated() { member.join(BatchMembership(index, of: tracker)) }
    }

    /// The members may outlive the batch; its progress, which may have a parent, still controls them. Weak
    /// references to the members are made only here, because they cost memory.
    deinit {
        guard let progress = tracker.gauge.madeProgress else { return }
        let members = members.filter { !$0.isFinished }.map(WeakMember.init)
        guard !members.isEmpty else { return }
        progress.hand(
            over: ReportedProgress.Controls(
                cancel: { ConnectionOperation.cancelTogether(members.compactMap(\.member)) },
                pause: { ConnectionOperation.pauseTogether(members.compactMap(\.member)) },
                resume: { ConnectionOperation.resumeTogether(members.compactMap(\.member)) }
            )
        )
    }

    // MARK: - Commands

    /// Adds all ``operations`` to a queue, in linear time. Adding them one by one takes time proportional to
    /// the square of the number of paused operations. Afterwards no member can be configured. A second call
    /// traps.
    public func add(to queue: OperationQueue) {
        let wasAdded = isAdded.withLock { isAdded in
            defer { isAdded = true }
            return isAdded
        }
        precondition(!wasAdded, "A batch was added to a queue twice: call add(to:) only once")
        ConnectionOperation.seal(operations)
        queue.addOperations(operations, waitUntilFinished: false)
        // The queue may have missed members that became ready in between.
        ConnectionOperation.notifyReadiness(late: operations)
    }

    /// Pauses all members. A member that has not started is not started until it is resumed.
    public func pause() {
        ConnectionOperation.pauseTogether(members)
    }

    /// Resumes all members, first those that had started.
    public func resume() {
        ConnectionOperation.resumeTogether(members)
    }

    /// Cancels all members that have not finished. Each fails with `URLError.cancelled`; in a queue, when its
    /// turn comes.
    public func cancel() {
        ConnectionOperation.cancelTogether(members)
    }

    // MARK: - Results

    /// Waits until all members have ended and all closures of the members and of the batch have been called,
    /// and returns the result of each member, in the order of ``members``. Without closures it needs no main
    /// queue.
    ///
    /// A member that is cancelled before its queue has started it is not waited for: its result is
    /// `URLError.cancelled`, and it ends, and calls its closures, when the queue reaches it.
    ///
    /// Cancelling the task cancels the batch and ends the wait at once: the result of unfinished members is
    /// `URLError.cancelled`, and they still end when their queue reaches them.
    public func results() async -> [Result<Member, any Error>] {
        await Wait.until(tracker.whenKnown) {
            self.cancel()
            return true
        }
        return members.map { member in member.errorForWaiting.map { .failure($0) } ?? .success(member) }
    }

    /// The first member that failed, if any.
    public var firstFailure: Member? { tracker.firstFailure.map { members[$0] } }

    // MARK: - Progress

    /// The progress in bytes, or in members while no size is known. Never decreases; finished when all
    /// members have ended.
    ///
    /// `cancel()`, `pause()` and `resume()` act on the batch. It may be a child of another `Progress`.
    /// Foundation's `Progress` has no lock: on threads other than the completion queue, read
    /// ``fractionCompleted`` instead.
    public var progress: Progress { tracker.gauge.progress }

    /// The current progress, then an update each time bytes are transferred, at most 20 times a second, and
    /// once a second while the speed falls. Ends with the batch, after its last value. A slow reader receives
    /// only the newest value. Needs no completion queue.
    public var updates: AsyncStream<BatchProgress> { tracker.gauge.updates }

    /// The completed fraction, from 0 to 1. Never decreases.
    public var fractionCompleted: Double { tracker.gauge.fraction }

    /// The reliability of ``fractionCompleted``.
    public var confidence: BatchConfidence { tracker.gauge.confidence }

    /// The bytes transferred, including those from before a resumption.
    public var completedBytes: Int64 { tracker.gauge.moved }

    /// The bytes of all members; unknown sizes are estimated from the known ones. `nil` if no size is known.
    public var totalBytes: Int64? { tracker.gauge.totalLength }

    /// Bytes per second, weighted toward the last few seconds; `nil` at first.
    public var throughput: Double? { tracker.gauge.throughput }

    /// The seconds until all bytes have been transferred; `nil` while unknown.
    public var estimatedTimeRemaining: TimeInterval? { tracker.gauge.timeLeft }
}

extension OperationBatch where Member == ConnectionOperation {
    /// Creates a batch without members from a literal `[]`, which has no element type. See
    /// ``init(_:policy:completionQueue:progress:completion:)``.
    @_disfavoredOverload
    public convenience init(
        _ none: [Never],
        policy: BatchPolicy = .collectAll,
        completionQueue: DispatchQueue? = nil,
        @_inheritActorContext progress: BatchProgressHandler? = nil,
        @_inheritActorContext completion: (@isolated(any) @Sendable ([Member]) -> Void)? = nil
    ) {
        self.init(
            [ConnectionOperation](),
            policy: policy,
            completionQueue: completionQueue,
            progress: progress,
            completion: completion
        )
    }

    /// Creates a batch without members, with a trailing `completion` closure.
    @_disfavoredOverload
    public convenience init(
        _ none: [Never],
        policy: BatchPolicy = .collectAll,
        completionQueue: DispatchQueue? = nil,
        @_inheritActorContext completion: @escaping @isolated(any) @Sendable ([Member]) -> Void
    ) {
        self.init(
            [ConnectionOperation](),
            policy: policy,
            completionQueue: completionQueue,
            completion: completion
        )
    }
}

extension ConnectionOperation {
    /// Makes a batch of operations: AFNetworking's method. See ``OperationBatch`` for everything a batch can
    /// do.
    ///
    /// A member has ended when its last callback has been delivered. `progress` is called once for each
    /// member, with counts from 1 to the number of members; `completion` is called exactly once, after that.
    /// Both are called on `completionQueue`, one at a time. A member that is released without having been
    /// started counts as ended, and is missing from the array that `completion` receives.
    ///
    /// - Parameters:
    ///   - operations: the members. Duplicates are ignored.
    ///   - completionQueue: `nil` is the main queue.
    ///   - progress: receives the number of ended members and of all members.
    ///   - completion: called when all members have ended, with the members in order.
    /// - Returns: the members in order, then an operation that finishes when `completion` has returned. Add
    ///   that last one to a queue only if your code waits for it or another operation depends on it.
    public static func batch<Member: ConnectionOperation>(
        of operations: [Member],
        completionQueue: DispatchQueue? = nil,
        @_inheritActorContext progress: BatchProgressHandler? = nil,
        @_inheritActorContext completion: (@isolated(any) @Sendable ([Member]) -> Void)? = nil
    ) -> [Operation] {
        OperationBatch(
            operations,
            completionQueue: completionQueue,
            progress: progress,
            completion: completion
        ).operations
    }
}

extension Array where Element: AnyObject {
    /// The elements without duplicates, in order of first occurrence.
    fileprivate var distinct: [Element] {
        var known: Set<ObjectIdentifier> = []
        return filter { known.insert(ObjectIdentifier($0)).inserted }
    }
}

/// A weak reference to a member.
private struct WeakMember: Sendable {
    weak let member: ConnectionOperation?

    init(_ member: ConnectionOperation) {
        self.member = member
    }
}

/// Becomes ready when its batch has completed. It has no dependencies: an operation that depends on all
/// members would cost a queue quadratic time.
final class BatchEndOperation: Operation, @unchecked Sendable {
    // @unchecked: the only state is behind a lock.
    private let isAllowed = Locked(false)

    override var isReady: Bool { super.isReady && isAllowed.withLock { $0 } }

    func allow() {
        isAllowed.withLock { $0 = true }
        didChangeValue(forKey: "isReady")
    }
}
