import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The `Progress` objects and the sequences of one operation that were asked for, and the last values of both
/// bodies. Told by one thread after the other, and asked on any.
final class ProgressOutlets: Sendable {
    /// A direction's.
    private struct Outlets {
        var last: TransferProgress?
        var progress: ReportedProgress?
        var sequences: [Int: AsyncStream<TransferProgress>.Continuation] = [:]
    }

    private struct State {
        var outlets: [ProgressDirection: Outlets] = [:]
        /// `nil`: it has not finished.
        var isSuccess: Bool?
        var isPublishing = false
        var lastSequence = 0

        /// Gives the progress its counts.
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
    /// Held while a `Progress` is made: there is one of each direction. The value means nothing.
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

    // MARK: - Asking

    /// The last value of a direction; `nil`: there is none yet.
    func last(_ direction: ProgressDirection) -> TransferProgress? {
        state.withLock { $0.outlets[direction]?.last }
    }

    /// The same object each time. The first time it becomes a child of `parent`.
    func progress(_ direction: ProgressDirection, below parent: Progress? = Progress.current()) -> Progress {
        let (progress, isNew) = making.withLock { _ in
            if let progress = state.withLock({ $0.outlets[direction]?.progress }) { return (progress, false) }
            // It commands nothing yet: a parent that is cancelled says so at once.
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

    /// The newest value at once, if there is one, and each new one; a slow reader gets the newest only.
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

    // MARK: - Telling

    func didMove(_ direction: ProgressDirection, _ report: ProgressReport) {
        let news = TransferProgress(total: report.total, expected: report.expected)
        let (outlets, isToPublish) = state.withLock { state in
            state.outlets[direction, default: Outlets()].last = news
            state.count(direction)
            let outlets = state.outlets[direction]
            let isToPublish = outlets?.progress != nil && !state.isPublishing
            if isToPublish { state.isPublishing = true }
            return (outlets, isToPublish)
        }
        if isToPublish { queue().async { self.publish() } }
        for continuation in outlets?.sequences.values ?? [:].values { continuation.yield(news) }
    }

    /// The operation has finished. The first call counts.
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

    /// Shows the counts in the tree. On the completion queue.
    func publish() {
        let all = state.withLock { state in
            state.isPublishing = false
            return state.outlets.values.compactMap(\.progress)
        }
        for progress in all { progress.publish() }
    }
}
