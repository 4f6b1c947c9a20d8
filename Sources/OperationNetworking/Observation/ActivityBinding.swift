internal import OperationNetworkingSystem

/// Shows in an object of yours, such as a spinner, whether operations run.
///
/// ```swift
/// ActivityBinding(of: batch.members, to: spinner) { spinner, isActive in spinner.isSpinning = isActive }
/// ```
///
/// It needs no owner, and ends by itself: with the last of the operations, when the object is released, or by
/// ``end()``. It keeps none of them.
public final class ActivityBinding: Sendable {
    private struct State {
        /// The operations that have not finished.
        var left: [ObjectIdentifier: WeakOperation]
        var running: Set<ObjectIdentifier> = []
        /// The operations that have not said yet whether they run.
        var unknown: Set<ObjectIdentifier>
        var news = NewestValue<Bool>()
        var show: (@Sendable (Bool) -> Bool)?
    }

    private let state: Locked<State>

    /// Binds an operation.
    ///
    /// - Parameters:
    ///   - operation: in any state.
    ///   - target: not retained.
    ///   - update: called on the operation's `completionQueue`, first with the state of now, then once for
    ///     each edge: `true` while it runs, `false` while it is queued, paused or finished.
    @discardableResult
    public convenience init<Target: AnyObject & Sendable>(
        of operation: ConnectionOperation,
        to target: Target,
        update: @escaping @Sendable (Target, _ isActive: Bool) -> Void
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
    public init<Target: AnyObject & Sendable>(
        of operations: [ConnectionOperation],
        to target: Target,
        update: @escaping @Sendable (Target, _ isActive: Bool) -> Void
    ) {
        let left = operations.map { (ObjectIdentifier($0), WeakOperation($0)) }
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
        for operation in operations {
            operation.addObserver(self) { [weak operation] isRunning in
                guard let operation else { return }
                self.learn(ObjectIdentifier(operation), isRunning)
            }
        }
    }

    /// Ends it: `update` is not called any more, but for a call that is running.
    public func end() {
        let left = state.withLock { state in
            defer { state.left = [:] }
            return state.left
        }
        state.change { $0.show = nil }
        for operation in left.values { operation.object?.removeObserver(self) }
    }

    // MARK: - Helpers

    private func learn(_ operation: ObjectIdentifier, _ isRunning: Bool, isOver: Bool = false) {
        let isToTell = state.withLock { state in
            state.unknown.remove(operation)
            if isRunning { state.running.insert(operation) } else { state.running.remove(operation) }
            if isOver { state.left[operation] = nil }
            // Until each has spoken, "none runs" is not known.
            guard state.unknown.isEmpty || !state.running.isEmpty else { return false }
            return state.news.offer(!state.running.isEmpty)
        }
        if isToTell { tell() }
    }

    /// On a completion queue. Where several are, one call tells what the others found meanwhile.
    private func tell() {
        repeat {
            let (isActive, show) = state.withLock { ($0.news.take(), $0.show) }
            if let isActive, let show, !show(isActive) { end() }
        } while state.withLock({ $0.news.hasMore() })
        if state.withLock({ $0.left.isEmpty && $0.unknown.isEmpty }) { state.change { $0.show = nil } }
    }
}

// MARK: - OperationObserver

extension ActivityBinding: OperationObserver {
    /// The operation runs.
    public func operationDidStart(_ operation: ConnectionOperation) {
        learn(ObjectIdentifier(operation), true)
    }

    /// The operation does not run.
    public func operationDidPause(_ operation: ConnectionOperation) {
        learn(ObjectIdentifier(operation), false)
    }

    /// The operation runs again.
    public func operationDidResume(_ operation: ConnectionOperation) {
        learn(ObjectIdentifier(operation), true)
    }

    /// The operation does not run any more.
    public func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        learn(ObjectIdentifier(operation), false, isOver: true)
    }
}
