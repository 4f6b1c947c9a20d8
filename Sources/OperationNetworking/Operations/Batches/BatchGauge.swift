import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The progress and the speed of a batch: an estimate behind a lock, and what shows it, if that is asked for,
/// a `Progress` and sequences.
final class BatchGauge: Sendable {
    /// Seconds between two updates of the `Progress`, and of the sequences.
    private static let publishingInterval = 0.05
    /// Seconds until the sequences hear of a speed that falls, since nothing moves.
    private static let restInterval = 1.0

    private struct State {
        var estimate: BatchEstimate
        var meter: ThroughputMeter
        var isPublishing = false
        var controls: ReportedProgress.Controls?
        var progress: ReportedProgress?
        var sequences: [Int: AsyncStream<BatchProgress>.Continuation] = [:]
        var lastSequence = 0
        var isTelling = false
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

    /// Serial, and on the user's queue: what is told there arrives in order even if that one is concurrent.
    let queue: DispatchQueue
    private let state: Locked<State>

    init(_ estimate: BatchEstimate, completionQueue: DispatchQueue?) {
        queue = DispatchQueue(label: "OperationNetworking.batch", target: completionQueue ?? .main)
        state = Locked(State(estimate: estimate, meter: ThroughputMeter(now: MonotonicTime.now.seconds)))
    }

    deinit {
        for continuation in state.withLock({ $0.sequences.values }) { continuation.finish() }
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

    /// The state at once, and each change; a slow reader gets the newest only. It needs no queue.
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

    /// In turns, under the lock: no value comes behind a newer one.
    private func tell() {
        state.withLock { state in
            state.isTelling = false
            let news = state.look()
            for continuation in state.sequences.values { continuation.yield(news) }
        }
        watch()
    }

    /// Tells again in a while, for the speed falls if nothing moves.
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
            self?.tell()
        }
    }

    // MARK: - The end

    /// Gives the sequences their last value, and ends them.
    func endUpdates() {
        let sequences = state.withLock { state in
            state.hasEnded = true
            let news = state.look()
            defer { state.sequences = [:] }
            for continuation in state.sequences.values { continuation.yield(news) }
            return Array(state.sequences.values)
        }
        for continuation in sequences { continuation.finish() }
    }

    // MARK: - What happens

    func record(_ change: (inout BatchEstimate) -> Void) {
        let (isToPublish, isToTell) = state.withLock { state in
            change(&state.estimate)
            state.meter.record(total: state.estimate.transferred, now: MonotonicTime.now.seconds)
            let isToPublish = state.progress != nil && !state.isPublishing
            if isToPublish { state.isPublishing = true }
            let isToTell = !state.sequences.isEmpty && !state.isTelling
            if isToTell { state.isTelling = true }
            return (isToPublish, isToTell)
        }
        let time = DispatchTime.now() + Self.publishingInterval
        if isToPublish { queue.asyncAfter(deadline: time) { [weak self] in self?.publish() } }
        if isToTell { DispatchQueue.global().asyncAfter(deadline: time) { [weak self] in self?.tell() } }
    }

    /// Shows the counts in the `Progress`, if it was asked for. On the queue.
    func publish() {
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
        state.withLock { $0.timeLeft() }
    }
}

/// The progress of a batch at one moment: an element of ``OperationBatch/updates`` and
/// ``DownloadBatch/updates``.
public struct BatchProgress: Hashable, Sendable {
    /// The fraction that is done, from 0 to 1; never goes down.
    public let fractionCompleted: Double
    /// The reliability of ``fractionCompleted``.
    public let confidence: BatchConfidence
    /// Bytes that came and went, together with those that were there before a resumption.
    public let completedBytes: Int64
    /// Bytes of all members, as far as they are known, and estimated by those for the others; `nil`: nothing
    /// is known.
    public let totalBytes: Int64?
    /// Bytes per second, of the last few seconds most; `nil` at first.
    public let throughput: Double?
    /// The seconds until all bytes will have come; `nil` while that is unknown.
    public let estimatedTimeRemaining: Double?
}
