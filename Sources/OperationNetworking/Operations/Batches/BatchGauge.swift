import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// How far a batch is, and how fast: an estimate behind a lock, and the `Progress` that shows it.
final class BatchGauge: Sendable {
    /// Seconds between two updates of the `Progress`.
    private static let publishingInterval = 0.05

    private struct State {
        var estimate: BatchEstimate
        var meter: ThroughputMeter
        var isPublishing = false
    }

    /// Serial, and on the user's queue: what is told there arrives in order even if that one is concurrent.
    let queue: DispatchQueue
    let progress = BatchProgress()
    private let state: Locked<State>

    init(_ estimate: BatchEstimate, completionQueue: DispatchQueue?) {
        queue = DispatchQueue(label: "OperationNetworking.batch", target: completionQueue ?? .main)
        state = Locked(State(estimate: estimate, meter: ThroughputMeter(now: MonotonicTime.now.seconds)))
        progress.publish(estimate)
    }

    // MARK: - What happens

    func record(_ change: (inout BatchEstimate) -> Void) {
        let isToPublish = state.withLock { state in
            change(&state.estimate)
            state.meter.record(total: state.estimate.transferred, now: MonotonicTime.now.seconds)
            defer { state.isPublishing = true }
            return !state.isPublishing
        }
        guard isToPublish else { return }
        queue.asyncAfter(deadline: .now() + Self.publishingInterval) { [weak self] in self?.publish() }
    }

    /// On the queue.
    func publish() {
        let estimate = state.withLock { state in
            state.isPublishing = false
            return state.estimate
        }
        progress.publish(estimate)
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
