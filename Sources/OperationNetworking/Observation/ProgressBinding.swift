internal import OperationNetworkingSystem

/// Shows the progress of an operation in an object of yours, such as a bar.
///
/// ```swift
/// ProgressBinding(of: operation, to: bar) { bar, progress in bar.fraction = progress.fraction ?? 0 }
/// ```
///
/// It needs no owner, and ends by itself: with the operation, when the object is released, or by ``end()``.
/// It keeps neither of the two, and closures of `setDownloadProgress(_:)` are called as well.
///
/// The conformance to ``OperationObserver`` is how it hears of the operation, and is public as both
/// are; code of yours calls none of its methods.
public final class ProgressBinding: Sendable {
    /// The body whose bytes count.
    public enum Direction: Hashable, Sendable {
        /// The response's.
        case download
        /// The request's.
        case upload
    }

    private let direction: Direction
    private let leave: @Sendable (ProgressBinding) -> Void
    /// Of `update`.
    private let home: ClosureHome
    private let show: Locked<(@Sendable (TransferProgress) -> Bool)?>

    /// Binds the two.
    ///
    /// - Parameters:
    ///   - operation: one that has not finished: later there is no progress.
    ///   - direction: the response's body, unless given.
    ///   - target: not retained.
    ///   - update: called on the operation's `completionQueue`, at most 20 times a second, and once with the
    ///     last value before the operation's result. One that is written in main-actor code is called on the
    ///     main queue.
    @discardableResult
    public convenience init<Target: AnyObject & Sendable>(
        of operation: ConnectionOperation,
        _ direction: Direction = .download,
        to target: Target,
        @_inheritActorContext update: @escaping @isolated(any) @Sendable (Target, TransferProgress) -> Void
    ) {
        self.init(direction, to: target, update: update) { [weak operation] in operation?.removeObserver($0) }
        operation.addObserver(self)
    }

    // `leave` ends what has `tell` called.
    init<Target: AnyObject & Sendable>(
        _ direction: Direction,
        to target: Target,
        update: @escaping @isolated(any) @Sendable (Target, TransferProgress) -> Void,
        leave: @escaping @Sendable (ProgressBinding) -> Void
    ) {
        self.direction = direction
        self.leave = leave
        home = ClosureHome(update.isolation)
        let update = IsolatedFunction.Binary(update).plain
        show = Locked({ [weak target] progress in
            guard let target else { return false }
            update(target, progress)
            return true
        })
    }

    /// Ends it: `update` is not called any more, but for a call that is running.
    public func end() {
        leave(self)
        show.change { $0 = nil }
    }

    /// Bytes have moved. On the completion queue.
    /// - Returns: the call of the closure.
    func tell(_ direction: Direction, _ total: Int64, _ expected: Int64) -> Detour? {
        guard direction == self.direction, !show.withLock({ $0 == nil }) else { return nil }
        return Detour(home) {
            guard let show = self.show.withLock({ $0 }) else { return }
            if !show(TransferProgress(total: total, expected: expected)) { self.end() }
        }
    }
}

// MARK: - OperationObserver

extension ProgressBinding: OperationObserver {
    /// Shows it.
    public func operation(
        _ operation: ConnectionOperation,
        didDownload bytes: Int,
        total: Int64,
        expected: Int64
    ) {
        operation.make(tell(.download, total, expected))
    }

    /// Shows it.
    public func operation(
        _ operation: ConnectionOperation,
        didUpload bytes: Int,
        total: Int64,
        expected: Int64
    ) {
        operation.make(tell(.upload, total, expected))
    }

    /// Ends it.
    public func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        finish()
    }

    /// There will be no more progress.
    func finish() {
        show.change { $0 = nil }
    }
}
