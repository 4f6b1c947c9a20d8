import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The progress and the speed of a batch: an estimate behind a lock, and the `Progress` that shows it, if one
/// is asked for.
final class BatchGauge: Sendable {
    /// Seconds between two updates of the `Progress`.
    private static let publishingInterval = 0.05

    private struct State {
        var estimate: BatchEstimate
        var meter: ThroughputMeter
        var isPublishing = false
        var controls: ReportedProgress.Controls?
        var progress: ReportedProgress?
    }

    /// Serial, and on the user's queue: what is told there arrives in order even if that one is concurrent.
    let queue: DispatchQueue
    private let hasOwnQueue: Bool
    private let state: Locked<State>

    init(_ estimate: BatchEstimate, completionQueue: DispatchQueue?) {
        queue = DispatchQueue(label: "OperationNetworking.batch", target: completionQueue ?? .main)
        hasOwnQueue = completionQueue != nil
        state = Locked(State(estimate: estimate, meter: ThroughputMeter(now: MonotonicTime.now.seconds)))
    }

    /// Sets the controls, by which the progress cancels, pauses and resumes the batch. Called before the
    /// progress is asked for.
    func set(_ controls: ReportedProgress.Controls) {
        state.withLock { $0.controls = controls }
    }

    /// The progress, if it was asked for.
    var madeProgress: ReportedProgress? { state.withLock { $0.progress } }

    /// Made when it is first asked for: no other thread can see it then, so it shows at once how far the
    /// batch is.
    var progress: ReportedProgress {
        let new = ReportedProgress()
        let (progress, controls) = state.withLock { state -> (ReportedProgress, ReportedProgress.Controls?) in
            if let progress = state.progress { return (progress, nil) }
            let units = state.estimate.units
            new.count(completed: units.completed, total: units.total)
            state.progress = new
            return (new, state.controls)
        }
        // Not with the lock held, which the end of a member wants.
        if progress === new {
            new.publish()
            if let controls { new.set(controls) }
        }
        return progress
    }

    // MARK: - The end

    /// Calls `body` on the queue after everything that was told there, if there is an audience; if not, here
    /// and now.
    func conclude(hasClosures: Bool, _ body: @escaping @Sendable () -> Void) {
        let showsProgress = state.withLock { $0.progress != nil }
        let audience = BatchAudience(
            hasClosures: hasClosures,
            showsProgress: showsProgress,
            hasOwnQueue: hasOwnQueue
        )
        if audience.needsQueue {
            queue.async {
                self.publish()
                body()
            }
        } else {
            if showsProgress { queue.async { self.publish() } }
            body()
        }
    }

    // MARK: - What happens

    func record(_ change: (inout BatchEstimate) -> Void) {
        let isToPublish = state.withLock { state in
            change(&state.estimate)
            state.meter.record(total: state.estimate.transferred, now: MonotonicTime.now.seconds)
            guard state.progress != nil, !state.isPublishing else { return false }
            state.isPublishing = true
            return true
        }
        guard isToPublish else { return }
        queue.asyncAfter(deadline: .now() + Self.publishingInterval) { [weak self] in self?.publish() }
    }

    /// On the queue.
    private func publish() {
        let (estimate, progress) = state.withLock { state in
            state.isPublishing = false
            return (state.estimate, state.progress)
        }
        let units = estimate.units
        progress?.count(completed: units.completed, total: units.total)
        progress?.publish()
    }

    // MARK: - What can be said

    var fraction: Double { state.withLock { $0.estimate.fraction } }

    var confidence: BatchConfidence { state.withLock { $0.estimate.confidence } }

    var moved: Int64 { state.withLock { $0.estimate.moved } }

    var totalLength: Int64? { state.withLock { $0.estimate.total } }

    /// Bytes per second. Nothing that came meanwhile counts as well.
    var throughput: Double? {
        state.withLock { state in
            state.meter.record(total: state.estimate.transferred, now: MonotonicTime.now.seconds)
            return state.meter.speed
        }
    }

    var timeLeft: Double? {
        state.withLock { state in
            if state.estimate.hasFinished { return 0 }
            state.meter.record(total: state.estimate.transferred, now: MonotonicTime.now.seconds)
            let transferred = state.estimate.transferred
            return state.meter.timeLeft(
                expected: state.estimate.remaining.map { transferred.addingSaturated($0) }
            )
        }
    }
}
