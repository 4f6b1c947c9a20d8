import Foundation
internal import OperationNetworkingSystem

/// A `Progress` whose counts are those of a transfer, or of a batch: what others set is ignored. Cancelling,
/// pausing and resuming it act on what it shows.
///
/// Foundation's has no lock on Linux, and a parent may have children of several queues: all of ours are
/// written under one lock of the process. Counts are read behind another one.
final class ReportedProgress: Progress, @unchecked Sendable {
    // @unchecked: as `Progress`; what is of this class lives behind locks.

    /// The controls of the progress, which act on what it shows.
    struct Controls: Sendable {
        var cancel: @Sendable () -> Void
        var pause: @Sendable () -> Void
        var resume: @Sendable () -> Void
    }

    /// The value means nothing; an empty one would be where ThreadSanitizer sees the lock.
    private static let writing = Locked(false)

    /// Changes `Progress` objects, which may have a parent that others of ours have, too.
    static func write<Result>(_ body: () -> Result) -> Result {
        writing.withLock { _ in body() }
    }

    private struct Units: Equatable {
        var completed: Int64 = 0
        var total: Int64 = -1
    }

    /// The counts of the owner; the tree of `Progress` objects gets them by ``publish()``.
    private let units = Locked(Units())
    private let controls = Locked<Controls?>(nil)
    private let wasCancelled = Locked(false)

    /// - Parameter parent: the current progress of the thread, or `nil`.
    init(parent: Progress? = nil) {
        super.init(parent: parent, userInfo: nil)
        isCancellable = true
        isPausable = true
    }

    /// Has commands act on the owner from now on; one that came before does so now.
    func set(_ controls: Controls) {
        self.controls.withLock { $0 = controls }
        if isCancelled { controls.cancel() } else if isPaused { controls.pause() }
    }

    /// Has commands act by other controls from now on. A `cancel()` that found the old ones gone does so now;
    /// a `pause()` or a `resume()` in that moment is lost.
    func hand(over controls: Controls) {
        self.controls.withLock { $0 = controls }
        if wasCancelled.withLock({ $0 }) { controls.cancel() }
    }

    /// Sets the counts; ``publish()`` shows them.
    func count(completed: Int64, total: Int64) {
        units.withLock { $0 = Units(completed: completed, total: total) }
    }

    /// Makes it complete, whatever its length: 0 of 0 would not be.
    func complete(_ completed: Int64) {
        count(completed: max(1, completed), total: max(1, completed))
    }

    /// Shows in the tree how far it is now.
    func publish() {
        Self.write {
            // In here: a later call never shows less than an earlier one.
            let new = units.withLock { $0 }
            let total = Self.shown(total: new.total)
            let (shownCompleted, shownTotal) = (super.completedUnitCount, super.totalUnitCount)
            guard new.completed != shownCompleted || total != shownTotal else { return }
            if Self.totalComesFirst(total, shownCompleted) {
                super.totalUnitCount = total
                super.completedUnitCount = new.completed
            } else {
                super.completedUnitCount = new.completed
                super.totalUnitCount = total
            }
        }
    }

    /// The total that a `Progress` is given: Foundation's divides by one of zero and traps when that comes
    /// after another, so that it is unknown (-1) until the end. A server may announce any length after any
    /// other.
    static func shown(total: Int64) -> Int64 {
        total > 0 ? total : -1
    }

    /// Whether a new total is to be written before the new count. A parent takes a child for finished, once
    /// and for all, as soon as nothing is missing: that must not be seen between the two steps.
    static func totalComesFirst(_ total: Int64, _ shownCompleted: Int64) -> Bool {
        total < 0 || shownCompleted < total
    }

    override var totalUnitCount: Int64 {
        get { units.withLock { $0.total } }
        // The owner counts: what others set is ignored.
        set {}
    }

    override var completedUnitCount: Int64 {
        get { units.withLock { $0.completed } }
        // The owner counts: what others set is ignored.
        set {}
    }

    override func cancel() {
        super.cancel()
        wasCancelled.withLock { $0 = true }
        controls.withLock { $0 }?.cancel()
    }

    override func pause() {
        super.pause()
        controls.withLock { $0 }?.pause()
    }

    override func resume() {
        super.resume()
        controls.withLock { $0 }?.resume()
    }
}
