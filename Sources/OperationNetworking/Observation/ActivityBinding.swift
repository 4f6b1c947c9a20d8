internal import OperationNetworkingSystem

/// Shows in an object of yours, such as a spinner, whether operations run.
///
/// ```swift
/// ActivityBinding(of: batch.members, to: spinner) { spinner, isActive in spinner.isSpinning = isActive }
/// ```
///
/// It needs no owner, and ends by itself: with the last of the operations, when the object is released, or by
/// ``end()``. It keeps none of them.
///
/// The conformance to ``OperationObserver`` is how it hears of operations, and is public as both
/// are; code of yours calls none of its methods.
public final class ActivityBinding: Sendable {
    /// A thing that runs or does not: an operation, a task of a session.
    struct Subject: Sendable {
        let identifier: ObjectIdentifier
        /// Has ``learn(_:_:isOver:)`` called with the state of now, and with each new one.
        let join: @Sendable (ActivityBinding) -> Void
        let leave: @Sendable (ActivityBinding) -> Void
    }

    private struct State {
        /// The subjects that have not finished.
        var left: [ObjectIdentifier: Subject]
        var running: Set<ObjectIdentifier> = []
        /// The subjects that have not said yet whether they run.
        var unknown: Set<ObjectIdentifier>
        var news = NewestValue<Bool>()
        var show: (@Sendable (Bool) -> Bool)?
    }

    private let state: Locked<State>
    /// Of `update`.
    private let home: ClosureHome

    /// Binds an operation.
    ///
    /// - Parameters:
    ///   - operation: in any state.
    ///   - target: not retained.
    ///   - update: called on the operation's `completionQueue`, first with the state of now, then once for
    ///     each edge: `true` while it runs, `false` while it is queued, paused or finished. One that is
    ///     written in main-actor code is called on the main queue.
    @discardableResult
    public convenience init<Target: AnyObject & Sendable>(
        of operation: ConnectionOperation,
        to target: Target,
        @_inheritActorContext update: @escaping @isolated(any) @Sendable (Target, _ isActive: Bool) -> Void
    ) {
        self.init(of: [operation], to: target, update: update)
    }

    /// Binds several operations: `true` while one of them runs.
    ///
    /// - Parameters:
    ///   - operations: in any state; without one there is nothing to tell.
    ///   - target: not retained.
    ///   - update: as for one operation. If their `completionQueue`s differ, it comes on that of the one that
    ///     changed, so give them the same one.
    @discardableResult
    public convenience init<Target: AnyObject & Sendable>(
        of operations: [ConnectionOperation],
        to target: Target,
        @_inheritActorContext update: @escaping @isolated(any) @Sendable (Target, _ isActive: Bool) -> Void
    ) {
        self.init(subjects: operations.map(Subject.init), to: target, update: update)
    }

    init<Target: AnyObject & Sendable>(
        subjects: [Subject],
        to target: Target,
        update: @escaping @isolated(any) @Sendable (Target, _ isActive: Bool) -> Void
    ) {
        let left = subjects.map { ($0.identifier, $0) }
        home = ClosureHome(update.isolation)
        let update = IsolatedFunction.Binary(update).plain
        state = Locked(
            State(
                left: Dictionary(left) { first, _ in first },
                unknown: Set(left.map(\.0)),
                show: { [weak target] isActive in
                    guard let target else { return false }
                    update(target, isActive)
                    return true
                }
            )
        )
        for subject in subjects { subject.join(self) }
    }

    /// Ends it: `update` is not called any more, but for a call that is running.
    public func end() {
        let left = state.withLock { state in
            defer { state.left = [:] }
            return state.left
        }
        state.change { $0.show = nil }
        for subject in left.values { subject.leave(self) }
    }

    // MARK: - For subjects

    /// A subject runs, or does not. On its completion queue.
    /// - Returns: the call of the closure.
    func learn(_ subject: ObjectIdentifier, _ isRunning: Bool, isOver: Bool = false) -> Detour? {
        let isToTell = state.withLock { state in
            state.unknown.remove(subject)
            if isRunning { state.running.insert(subject) } else { state.running.remove(subject) }
            if isOver { state.left[subject] = nil }
            // Until each has spoken, "none runs" is not known.
            guard state.unknown.isEmpty || !state.running.isEmpty else { return false }
            return state.news.offer(!state.running.isEmpty)
        }
        return isToTell ? Detour(home) { self.tell() } : nil
    }

    // MARK: - Helpers

    /// Where the closure belongs. Of several completion queues, one call tells what the others found
    /// meanwhile.
    private func tell() {
        repeat {
            let (isActive, show) = state.withLock { ($0.news.take(), $0.show) }
            if let isActive, let show, !show(isActive) { end() }
        } while state.withLock({ $0.news.hasMore() })
        if state.withLock({ $0.left.isEmpty && $0.unknown.isEmpty }) { state.change { $0.show = nil } }
    }
}

extension ActivityBinding.Subject {
    init(_ operation: ConnectionOperation) {
        let identifier = ObjectIdentifier(operation)
        self.identifier = identifier
        join = { [weak operation] binding in
            operation?.addObserver(binding) { binding.learn(identifier, $0) }
        }
        leave = { [weak operation] binding in operation?.removeObserver(binding) }
    }
}

// MARK: - OperationObserver

extension ActivityBinding: OperationObserver {
    /// The operation runs.
    public func operationDidStart(_ operation: ConnectionOperation) {
        operation.make(learn(ObjectIdentifier(operation), true))
    }

    /// The operation does not run.
    public func operationDidPause(_ operation: ConnectionOperation) {
        operation.make(learn(ObjectIdentifier(operation), false))
    }

    /// The operation runs again.
    public func operationDidResume(_ operation: ConnectionOperation) {
        operation.make(learn(ObjectIdentifier(operation), true))
    }

    /// The operation does not run any more.
    public func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        operation.make(learn(ObjectIdentifier(operation), false, isOver: true))
    }
}
