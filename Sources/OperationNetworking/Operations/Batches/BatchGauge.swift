import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The progress and the speed of a batch: an estimate behind a lock, reported by a `Progress` and sequences,
/// if they are used.
final class BatchGauge: Sendable {
    /// The seconds between two updates of the `Progress` and the sequences.
    private static let publishingInterval = 0.05
    /// The seconds until the sequences report a falling speed while nothing moves.
    private static let restInterval = 1.0

    private struct State {
        var estimate: BatchEstimate
        var meter: ThroughputMeter
        var isPublishing = false
        var controls: ReportedProgress.Controls?
        var progress: ReportedProgress?
        var sequences: [Int: AsyncStream<BatchProgress>.Continuation] = [:]
        var lastSequence = 0
        var isYielding = false
        var isWatching = false
        var hasEnded = false

        mutating func timeLeft() -> Double? {
            if estimate.hasFinished { return 0 }
            meter.record(total: estimate.transferred, now: MonotonicTime.now.seconds)
            let transferred = estimate.transferred
            return meter.timeLeft(expected: estimate.remaining.map { transferred.addingSaturated($0) })
        }

        mutating func look() -> BatchProgress {
            let timeLeft = timeLeft()
            return BatchProgress(
                fractionCompleted: estimate.fraction,
                confidence: estimate.confidence,
                completedBytes: estimate.moved,
                totalBytes: estimate.total,
                throughput: meter.speed,
                estimatedTimeRemaining: timeLeft
            )
        }
    }

    /// A serial queue that targets the user's queue, so that callbacks are in order even if that queue is
    /// concurrent.
    let queue: DispatchQueue
    private let state: Locked<State>

    init(_ estimate: BatchEstimate, completionQueue: DispatchQueue?) {
        queue = DispatchQueue(label: "OperationNetworking.batch", target: completionQueue ?? .main)
        state = Locked(State(estimate: estimate, meter: ThroughputMeter(now: MonotonicTime.now.seconds)))
    }

    deinit {
        for continuation in state.withLock({ $0.sequences.values }) { continuation.finish() }
    }

    /// Sets the controls with which the progress cancels, pauses and resumes the batch. Called before the
    /// progress is used.
    func set(_ controls: ReportedProgress.Controls) {
        state.withLock { $0.controls = controls }
    }

    /// The progress, if it has been used.
    var madeProgress: ReportedProgress? { state.withLock { $0.progress } }

    /// The progress, created on first use with the current counts: no other thread can see it yet.
    var progress: ReportedProgress {
        let new = ReportedProgress()
        let (progress, controls) = state.withLock { state -> (ReportedProgress, ReportedProgress.Controls?) in
            if let progress = state.progress { return (progress, nil) }
            let units = state.estimate.units
            new.count(completed: units.completed, total: units.total)
            state.progress = new
            return (new, state.controls)
        }
        // Not with the lock held, which the end of a member takes.
        if progress === new {
            new.publish()
            if let controls { new.set(controls) }
        }
        return progress
    }

    /// The current state, then each change. A slow reader receives only the newest value. Needs no queue.
    var updates: AsyncStream<BatchProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: BatchProgress.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = state.withLock { state -> Int? in
            continuation.yield(state.look())
            guard !state.hasEnded else { return nil }
            state.lastSequence += 1
            state.sequences[state.lastSequence] = continuation
            return state.lastSequence
        }
        watch()
        if let number {
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.sequences.removeValue(forKey: number) }
            }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Yields the current state to the sequences. Under the lock, so that no value follows a newer one.
    private func yieldProgress() {
        state.withLock { state in
            state.isYielding = false
            let news = state.look()
            for continuation in state.sequences.values { continuation.yield(news) }
        }
        watch()
    }

    /// Schedules another update, because the speed falls if nothing moves.
    private func watch() {
        let isNew = state.withLock { state in
            let progress = state.look()
            let falls = progress.throughput.map { $0 >= 1 } ?? (progress.completedBytes > 0)
            guard falls, !state.isWatching, !state.sequences.isEmpty else { return false }
            state.isWatching = true
            return true
        }
        guard isNew else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.restInterval) { [weak self] in
            self?.state.withLock { $0.isWatching = false }
            self?.yieldProgress()
        }
    }

    // MARK: - The end

    /// Yields the last value to the sequences and ends them.
    /// - Returns: whether the `Progress` is used, and ``publish()`` has to be called on the queue.
    func endUpdates() -> Bool {
        let (sequences, isUsed) = state.withLock { state in
            state.hasEnded = true
            let news = state.look()
            defer { state.sequences = [:] }
            for continuation in state.sequences.values { continuation.yield(news) }
            return (Array(state.sequences.values), state.progress != nil)
        }
        for continuation in sequences { continuation.finish() }
        return isUsed
    }

    // MARK: - Events

    func record(_ change: (inout BatchEstimate) -> Void) {
        let (isToPublish, isToYield) = state.withLock { state in
            change(&state.estimate)
            state.meter.record(total: state.estimate.transferred, now: MonotonicTime.now.seconds)
            let isToPublish = state.progress != nil && !state.isPublishing
            if isToPublish { state.isPublishing = true }
            let isToYield = !state.sequences.isEmpty && !state.isYielding
            if isToYield { state.isYielding = true }
            return (isToPublish, isToYield)
        }
        let time = DispatchTime.now() + Self.publishingInterval
        if isToPublish { queue.asyncAfter(deadline: time) { [weak self] in self?.publish() } }
        if isToYield {
            DispatchQueue.global().asyncAfter(deadline: time) { [weak self] in self?.yieldProgress() }
        }
    }

    /// Publishes the counts to the `Progress`, if it is used. Called on the queue.
    func publish() {
        let (estimate, progress) = state.withLock { state in
            state.isPublishing = false
            return (state.estimate, state.progress)
        }
        let units = estimate.units
        progress?.count(completed: units.completed, total: units.total)
        progress?.publish()
    }

    // MARK: - Values

    var fraction: Double { state.withLock { $0.estimate.fraction } }

    var confidence: BatchConfidence { state.withLock { $0.estimate.confidence } }

    var moved: Int64 { state.withLock { $0.estimate.moved } }

    var totalLength: Int64? { state.withLock { $0.estimate.total } }

    /// Bytes per second, including the time since the last byte.
    var throughput: Double? {
        state.withLock { state in
            state.meter.record(total: state.estimate.transferred, now: MonotonicTime.now.seconds)
            return state.meter.speed
        }
    }

    var timeLeft: Double? {
        state.withLock { $0.timeLeft() }
    }
}

/// The progress of a batch at one moment: an element of ``OperationBatch/updates`` and
/// ``DownloadBatch/updates``.
public struct BatchProgress: Hashable, Sendable {
    /// The completed fraction, from 0 to 1. Never decreases.
    public let fractionCompleted: Double
    /// The reliability of ``fractionCompleted``.
    public let confidence: BatchConfidence
    /// The bytes transferred, including those from before a resumption.
    public let completedBytes: Int64
    /// The bytes of all members; unknown sizes are estimated from the known ones. `nil` if no size is known.
    public let totalBytes: Int64?
    /// Bytes per second, weighted toward the last few seconds; `nil` at first.
    public let throughput: Double?
    /// The seconds until all bytes have been transferred; `nil` while unknown.
    public let estimatedTimeRemaining: Double?
}
