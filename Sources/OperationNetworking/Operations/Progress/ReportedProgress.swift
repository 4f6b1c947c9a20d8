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

    private let units = Locked<(completed: Int64, total: Int64)>((0, -1))
    private let controls: Controls?

    /// - Parameters:
    ///   - controls: `nil`: none.
    ///   - parent: the current progress of the thread, or `nil`.
    init(_ controls: Controls?, parent: Progress? = nil) {
        self.controls = controls
        super.init(parent: parent, userInfo: nil)
        isCancellable = true
        isPausable = true
    }

    /// Shows how far it is. The first time before any caller has it.
    func publish(completed: Int64, total: Int64) {
        Self.write {
            let shown = units.withLock { $0 }
            guard shown != (completed, total) else { return }
            // A parent takes a child for finished, once and for all, as soon as nothing is missing: that must
            // not be seen between the two steps.
            if total >= shown.total {
                super.totalUnitCount = total
                super.completedUnitCount = completed
            } else {
                super.completedUnitCount = completed
                super.totalUnitCount = total
            }
            units.withLock { $0 = (completed, total) }
        }
    }

    override var totalUnitCount: Int64 {
        get { units.withLock(\.total) }
        // The owner counts: what others set is ignored.
        set {}
    }

    override var completedUnitCount: Int64 {
        get { units.withLock(\.completed) }
        // The owner counts: what others set is ignored.
        set {}
    }

    override func cancel() {
        super.cancel()
        controls?.cancel()
    }

    override func pause() {
        super.pause()
        controls?.pause()
    }

    override func resume() {
        super.resume()
        controls?.resume()
    }
}
