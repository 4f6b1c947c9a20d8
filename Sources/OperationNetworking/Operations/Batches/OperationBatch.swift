public import Dispatch
public import Foundation
internal import OperationNetworkingSystem

/// Called for each member of a batch that has ended: with the number of those, and of all.
public typealias BatchProgressHandler = @isolated(any) @Sendable (_ ended: Int, _ total: Int) -> Void

/// The reaction of a batch to a failed member. A member that was cancelled has not failed.
public enum BatchPolicy: Hashable, Sendable {
    /// All members run to their ends.
    case collectAll
    /// The others are cancelled.
    case stopAtFirstFailure
}

/// Operations that belong together: commanded together, with one progress and one end.
///
/// ```swift
/// let batch = OperationBatch(urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) })
/// batch.add(to: queue)
/// for result in await batch.results() { print(result) }
/// ```
///
/// A member has ended when its last callback has been delivered; one without closures, observers or a
/// subclass that hears of it, when it has finished. Members may have finished before, may fail, and may be
/// cancelled; an empty batch completes. A member may be in several batches, and in each of them once.
/// Everything may be called from any thread. `OperationBatch([])` is an empty batch of ``ConnectionOperation``.
///
/// A batch keeps its members. A batch released before its start releases them.
public final class OperationBatch<Member: ConnectionOperation>: Sendable {
    /// The members, in the order in which they were given; of a batch of batches, theirs one after the other.
    public let members: [Member]
    /// The operations to add to a queue, or to several: the members in order, and last an operation that
    /// finishes when the batch has completed. That one only needs to be added if your code waits for it, or
    /// another operation depends on it.
    public let operations: [Operation]
    private let tracker: BatchTracker
    private let isAdded = Locked(false)

    /// A batch of operations.
    ///
    /// - Parameters:
    ///   - members: one that is given several times is a member once.
    ///   - policy: what happens when a member fails.
    ///   - completionQueue: where ``progress`` is updated, and closures of nonisolated code are called, one
    ///     at a time. `nil`: the main queue, which a batch without closures does not need.
    ///   - progress: called once for each member, with counts from 1 to the number of members.
    ///   - completion: called once, when all have ended, with the members in order.
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

    /// A batch of batches: commanded, counted and completed as one, after each of the given batches. A given
    /// batch's closures and policy concern its own members only; the policy of this batch concerns all.
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

    /// A batch with a `completion` and no `progress`: the trailing closure is `completion`.
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

    /// A batch of batches with a `completion` and no `progress`: the trailing closure is `completion`.
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

    /// The members may go on without it, and its progress, which may have a parent, commands them still. Weak
    /// references to the members are made only then: they cost memory.
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

    /// Adds all ``operations`` to a queue. The time grows with their number. If your code adds them one by
    /// one, the time grows with the square of the number of paused operations. From now on no member can be
    /// configured. A batch is added once: a second call traps.
    public func add(to queue: OperationQueue) {
        let wasAdded = isAdded.withLock { isAdded in
            defer { isAdded = true }
            return isAdded
        }
        precondition(!wasAdded, "A batch was added to a queue twice: add(to:) is called once")
        ConnectionOperation.seal(operations)
        queue.addOperations(operations, waitUntilFinished: false)
        // It may have missed what became ready meanwhile.
        ConnectionOperation.tellReadiness(late: operations)
    }

    /// Pauses all members. One that has not started is not started until it is resumed.
    public func pause() {
        ConnectionOperation.pauseTogether(members)
    }

    /// Lets all members go on; those that had started are the first.
    public func resume() {
        ConnectionOperation.resumeTogether(members)
    }

    /// Cancels all members that have not finished. Each ends with `URLError.cancelled`, in a queue when its
    /// turn comes.
    public func cancel() {
        ConnectionOperation.cancelTogether(members)
    }

    // MARK: - Results

    /// The end of each member, in the order of ``members``, when all have ended, and all closures of the
    /// members and of the batch have been called. Without closures it needs no completion queue.
    ///
    /// A member that is cancelled before its queue has started it is not waited for: it has
    /// `URLError.cancelled`, and ends, with its closures, when the queue comes to it.
    ///
    /// Cancelling the task cancels the batch, and ends the wait at once: members without an end have
    /// `URLError.cancelled` then, and still end when their queue comes to them.
    public func results() async -> [Result<Member, any Error>] {
        await Wait.until(tracker.whenKnown) {
            self.cancel()
            return true
        }
        return members.map { member in member.errorForWaiting.map { .failure($0) } ?? .success(member) }
    }

    /// The first member that failed, if one did.
    public var firstFailure: Member? { tracker.firstFailure.map { members[$0] } }

    // MARK: - Progress

    /// The progress in bytes; in members while no size is known. Goes up only, and is finished when all
    /// members have ended.
    ///
    /// `cancel()`, `pause()` and `resume()` act on the batch. It may be a child of another `Progress`.
    /// Foundation's has no lock: read ``fractionCompleted`` instead on other threads than the completion
    /// queue.
    public var progress: Progress { tracker.gauge.progress }

    /// The progress at once, each time bytes move, at most 20 times a second, and once a second while the
    /// speed falls; ends with the batch, after its last value. A slow reader gets the newest value only.
    /// Needs no completion queue.
    public var updates: AsyncStream<BatchProgress> { tracker.gauge.updates }

    /// The fraction that is done, from 0 to 1; never goes down.
    public var fractionCompleted: Double { tracker.gauge.fraction }

    /// The reliability of ``fractionCompleted``.
    public var confidence: BatchConfidence { tracker.gauge.confidence }

    /// Bytes that came and went, together with those that were there before a resumption.
    public var completedBytes: Int64 { tracker.gauge.moved }

    /// Bytes of all members, as far as they are known, and estimated by those for the others; `nil`: nothing
    /// is known.
    public var totalBytes: Int64? { tracker.gauge.totalLength }

    /// Bytes per second, of the last few seconds most; `nil` at first.
    public var throughput: Double? { tracker.gauge.throughput }

    /// The seconds until all bytes will have come; `nil` while that is unknown.
    public var estimatedTimeRemaining: TimeInterval? { tracker.gauge.timeLeft }
}

extension OperationBatch where Member == ConnectionOperation {
    /// A batch without members, for a literal `[]`, which says nothing of their type. See
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

    /// A batch without members, with a `completion` and no `progress`: the trailing closure is `completion`.
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
    /// Makes a batch of operations: `progress` hears how many are done, `completion` that all are.
    ///
    /// AFNetworking's call; see ``OperationBatch`` for what else a batch can do. A member is done when its
    /// last callback has been delivered. `progress` is called once for each, with counts from 1 to the number
    /// of members; `completion` exactly once, after all of these. Both are called on `completionQueue`, one
    /// at a time. A member that is released without having been started counts as done, and is missing from
    /// what `completion` gets.
    ///
    /// - Parameters:
    ///   - operations: the members; one that is given several times is a member once.
    ///   - completionQueue: `nil`: the main queue.
    ///   - progress: hears how many members are done, and how many there are.
    ///   - completion: hears that all are, and gets them in order.
    /// - Returns: the members in order, and one operation more that finishes when `completion` has returned.
    ///   All may be added to a queue; the last one only needs to be if your code waits for it, or another
    ///   operation depends on it.
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
    /// The elements, each where it is for the first time.
    fileprivate var distinct: [Element] {
        var known: Set<ObjectIdentifier> = []
        return filter { known.insert(ObjectIdentifier($0)).inserted }
    }
}

/// A member, not retained.
private struct WeakMember: Sendable {
    weak let member: ConnectionOperation?

    init(_ member: ConnectionOperation) {
        self.member = member
    }
}

/// Becomes ready when its batch has completed. It gates on nothing but itself: one operation that depended on
/// all members would cost a queue time that grows with their square.
final class BatchEndOperation: Operation, @unchecked Sendable {
    // @unchecked: the only state is behind a lock.
    private let isAllowed = Locked(false)

    override var isReady: Bool { super.isReady && isAllowed.withLock { $0 } }

    func allow() {
        isAllowed.withLock { $0 = true }
        didChangeValue(forKey: "isReady")
    }
}
