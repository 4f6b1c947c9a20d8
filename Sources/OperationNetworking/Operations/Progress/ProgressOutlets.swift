import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The `Progress` objects and the sequences of one operation, created on demand, and the last values of both
/// bodies. Updated by one thread at a time, and read on any.
final class ProgressOutlets: Sendable {
    /// The outlets of one direction.
    private struct Outlets {
        var last: TransferProgress?
        var progress: ReportedProgress?
        var sequences: [Int: AsyncStream<TransferProgress>.Continuation] = [:]
    }

    private struct State {
        var outlets: [ProgressDirection: Outlets] = [:]
        /// `nil` until the operation has finished.
        var isSuccess: Bool?
        var isPublishing = false
        var lastSequence = 0

        /// Updates the counts of the progress.
        func count(_ direction: ProgressDirection) {
            guard let outlets = outlets[direction], let progress = outlets.progress else { return }
            if isSuccess == true {
                progress.complete(outlets.last?.bytes ?? 0)
            } else if let last = outlets.last {
                progress.count(completed: last.bytes, total: last.expected ?? -1)
            }
        }
    }

    private let controls: ReportedProgress.Controls
    /// The queue on which the tree of `Progress` objects is changed.
    private let queue: @Sendable () -> DispatchQueue
    private let state = Locked(State())
    /// Held while a `Progress` is created, so that there is one of each direction. The value has no meaning.
    private let making = Locked(false)

    init(_ controls: ReportedProgress.Controls, queue: @escaping @Sendable () -> DispatchQueue) {
        self.controls = controls
        self.queue = queue
    }

    deinit {
        for outlets in state.withLock({ $0.outlets.values }) {
            for continuation in outlets.sequences.values { continuation.finish() }
        }
    }

    // MARK: - Reading

    /// The last value of a direction; `nil` if there is none yet.
    func last(_ direction: ProgressDirection) -> TransferProgress? {
        state.withLock { $0.outlets[direction]?.last }
    }

    /// Returns the progress, the same object each time. On first use it becomes a child of `parent`.
    func progress(_ direction: ProgressDirection, below parent: Progress? = Progress.current()) -> Progress {
        let (progress, isNew) = making.withLock { _ in
            if let progress = state.withLock({ $0.outlets[direction]?.progress }) { return (progress, false) }
            // It has no controls yet: a parent that is cancelled would cancel it at once.
            let new = ReportedProgress.write { ReportedProgress(parent: parent) }
            state.withLock { state in
                state.outlets[direction, default: Outlets()].progress = new
                state.count(direction)
            }
            return (new, true)
        }
        guard isNew else { return progress }
        progress.publish()
        progress.set(controls)
        return progress
    }

    /// The current value, if there is one, then each new one. A slow reader receives only the newest value.
    func updates(_ direction: ProgressDirection) -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = state.withLock { state -> Int? in
            if let last = state.outlets[direction]?.last { continuation.yield(last) }
            guard state.isSuccess == nil else { return nil }
            state.lastSequence += 1
            state.outlets[direction, default: Outlets()].sequences[state.lastSequence] = continuation
            return state.lastSequence
        }
        if let number {
            continuation.onTermination = { [weak self] _ in self?.drop(number, of: direction) }
        } else {
            continuation.finish()
        }
        return stream
    }

    private func drop(_ number: Int, of direction: ProgressDirection) {
        _ = state.withLock { $0.outlets[direction]?.sequences.removeValue(forKey: number) }
    }

    // MARK: - Reporting

    func didMove(_ direction: ProgressDirection, _ report: ProgressReport) {
        let update = TransferProgress(total: report.total, expected: report.expected)
        let (outlets, isToPublish) = state.withLock { state in
            state.outlets[direction, default: Outlets()].last = update
            state.count(direction)
            let outlets = state.outlets[direction]
            let isToPublish = outlets?.progress != nil && !state.isPublishing
            if isToPublish { state.isPublishing = true }
            return (outlets, isToPublish)
        }
        if isToPublish { queue().async { self.publish() } }
        for continuation in outlets?.sequences.values ?? [:].values { continuation.yield(update) }
    }

    /// Ends the sequences and the progress when the operation has finished. Only the first call counts.
    func finish(isSuccess: Bool) {
        let (all, showsProgress) = state.withLock { state in
            guard state.isSuccess == nil else { return ([], false) as ([Outlets], Bool) }
            state.isSuccess = isSuccess
            for direction in state.outlets.keys { state.count(direction) }
            let all = Array(state.outlets.values)
            for direction in state.outlets.keys { state.outlets[direction]?.sequences = [:] }
            return (all, all.contains { $0.progress != nil })
        }
        for outlets in all {
            for continuation in outlets.sequences.values { continuation.finish() }
        }
        if showsProgress { queue().async { self.publish() } }
    }

    /// Publishes the counts to the progress tree. Called on the completion queue.
    func publish() {
        let all = state.withLock { state in
            state.isPublishing = false
            return state.outlets.values.compactMap(\.progress)
        }
        for progress in all { progress.publish() }
    }
}
