import Foundation
internal import OperationNetworkingSystem

/// A `Progress` with the counts of a transfer or a batch, which cannot be set from outside. Cancelling,
/// pausing and resuming it act on its owner.
///
/// Foundation's `Progress` has no lock on Linux, and a parent may have children on several queues, so all
/// instances are written under one lock of the process. Counts are read under another one.
final class ReportedProgress: Progress, @unchecked Sendable {
    // @unchecked: as `Progress`; the state of this class lives behind locks.

    /// The actions of the progress on its owner.
    struct Controls: Sendable {
        var cancel: @Sendable () -> Void
        var pause: @Sendable () -> Void
        var resume: @Sendable () -> Void
    }

    /// The value has no meaning; an empty one would share the address that ThreadSanitizer sees as the lock.
    private static let writing = Locked(false)

    /// Changes `Progress` objects, which may share a parent with others.
    static func write<Result>(_ body: () -> Result) -> Result {
        writing.withLock { _ in body() }
    }

    private struct Units: Equatable {
        var completed: Int64 = 0
        var total: Int64 = -1
    }

    /// The counts of the owner; ``publish()`` writes them to the tree of `Progress` objects.
    private let units = Locked(Units())
    private let controls = Locked<Controls?>(nil)
    private let wasCancelled = Locked(false)

    /// - Parameter parent: the current progress of the thread, or `nil`.
    init(parent: Progress? = nil) {
        super.init(parent: parent, userInfo: nil)
        isCancellable = true
        isPausable = true
    }

    /// Makes commands act on the owner from now on. An earlier command is applied now.
    func set(_ controls: Controls) {
        self.controls.withLock { $0 = controls }
        if isCancelled { controls.cancel() } else if isPaused { controls.pause() }
    }

    /// Replaces the controls. A `cancel()` that found the old ones without effect is applied now; a `pause()`
    /// or `resume()` in that moment is lost.
    func hand(over controls: Controls) {
        self.controls.withLock { $0 = controls }
        if wasCancelled.withLock({ $0 }) { controls.cancel() }
    }

    /// Sets the counts, which ``publish()`` writes to the tree.
    func count(completed: Int64, total: Int64) {
        units.withLock { $0 = Units(completed: completed, total: total) }
    }

    /// Sets complete counts for any length: 0 of 0 would not be complete.
    func complete(_ completed: Int64) {
        count(completed: max(1, completed), total: max(1, completed))
    }

    /// Writes the current counts to the tree.
    func publish() {
        Self.write {
            // Under the lock, so that a later call never writes less than an earlier one.
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

    /// The total to write to a `Progress`. A total of zero after another one makes Foundation divide by zero
    /// and trap, so it is unknown (-1) until the end. A server may announce any length after any other.
    static func shown(total: Int64) -> Int64 {
        total > 0 ? total : -1
    }

    /// Whether to write a new total before the new count. A parent considers a child permanently finished as
    /// soon as nothing is missing, so that must not be visible between the two steps.
    static func totalComesFirst(_ total: Int64, _ shownCompleted: Int64) -> Bool {
        total < 0 || shownCompleted < total
    }

    override var totalUnitCount: Int64 {
        get { units.withLock { $0.total } }
        // Ignored: only the owner sets the counts.
        set {}
    }

    override var completedUnitCount: Int64 {
        get { units.withLock { $0.completed } }
        // Ignored: only the owner sets the counts.
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
