import Foundation
internal import OperationNetworkingSystem

/// The `Progress` of a batch.
///
/// Foundation's has no lock, so it is written on one queue; counts are read behind a lock.
final class BatchProgress: Progress, @unchecked Sendable {
    // @unchecked: as `Progress`; what is of this class lives behind locks.

    /// The controls of the progress, which act on the batch.
    struct Controls: Sendable {
        var cancel: @Sendable () -> Void
        var pause: @Sendable () -> Void
        var resume: @Sendable () -> Void
    }

    private let units = Locked<(completed: Int64, total: Int64)>((0, -1))
    private let controls: Controls?

    init(_ controls: Controls?) {
        self.controls = controls
        super.init(parent: nil, userInfo: nil)
        isCancellable = true
        isPausable = true
    }

    /// On the queue of the batch; the first time before any caller has it.
    func publish(_ estimate: BatchEstimate) {
        let new = estimate.units
        guard units.withLock({ $0 != new }) else { return }
        // A parent takes a child for finished, once and for all, as soon as nothing is missing: that must not
        // be seen between the two steps.
        if new.total >= units.withLock(\.total) {
            super.totalUnitCount = new.total
            super.completedUnitCount = new.completed
        } else {
            super.completedUnitCount = new.completed
            super.totalUnitCount = new.total
        }
        units.withLock { $0 = new }
    }

    override var totalUnitCount: Int64 {
        get { units.withLock(\.total) }
        // The batch counts: what others set is ignored.
        set {}
    }

    override var completedUnitCount: Int64 {
        get { units.withLock(\.completed) }
        // The batch counts: what others set is ignored.
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
