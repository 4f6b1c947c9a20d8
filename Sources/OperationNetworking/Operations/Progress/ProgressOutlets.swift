import Foundation
internal import OperationNetworkingSystem

/// The `Progress` objects and the sequences of one operation that were asked for, and the last values of both
/// bodies. Told on the network thread, and asked on any.
final class ProgressOutlets: Sendable {
    /// The body whose bytes count.
    enum Direction: Hashable, Sendable {
        case download, upload
    }

    /// A direction's.
    private struct Outlets {
        var last: TransferProgress?
        var progress: ReportedProgress?
        var sequences: [UUID: AsyncStream<TransferProgress>.Continuation] = [:]
    }

    private struct State {
        var outlets: [Direction: Outlets] = [:]
        /// `nil`: it has not finished.
        var isSuccess: Bool?
    }

    private let controls: ReportedProgress.Controls
    private let state = Locked(State())

    init(_ controls: ReportedProgress.Controls) {
        self.controls = controls
    }

    // MARK: - Asking

    /// The same object each time. The first time it becomes a child of the thread's current progress.
    func progress(_ direction: Direction) -> Progress {
        let parent = Progress.current()
        // A parent may call its own handlers while it takes a child; so not with the lock held.
        let new = ReportedProgress.write { ReportedProgress(controls, parent: parent) }
        let (progress, isSuccess, last) = state.withLock { state in
            let progress = state.outlets[direction, default: Outlets()].progress ?? new
            state.outlets[direction, default: Outlets()].progress = progress
            return (progress, state.isSuccess, state.outlets[direction]?.last)
        }
        guard progress === new else { return progress }
        if let last { Self.publish(last, new) }
        if isSuccess == true { Self.complete(last, new) }
        if parent?.isCancelled == true { new.cancel() } else if parent?.isPaused == true { new.pause() }
        return new
    }

    /// The newest value at once, if there is one, and each new one; a slow reader gets the newest only.
    func updates(_ direction: Direction) -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = UUID()
        let isOver = state.withLock { state in
            if let last = state.outlets[direction]?.last { continuation.yield(last) }
            guard state.isSuccess == nil else { return true }
            state.outlets[direction, default: Outlets()].sequences[number] = continuation
            return false
        }
        if isOver {
            continuation.finish()
        } else {
            continuation.onTermination = { [weak self] _ in self?.drop(number, of: direction) }
        }
        return stream
    }

    private func drop(_ number: UUID, of direction: Direction) {
        _ = state.withLock { $0.outlets[direction]?.sequences.removeValue(forKey: number) }
    }

    // MARK: - Telling

    func didMove(_ direction: Direction, _ report: ProgressReport) {
        let news = TransferProgress(total: report.total, expected: report.expected)
        let outlets = state.withLock { state in
            state.outlets[direction, default: Outlets()].last = news
            return state.outlets[direction]
        }
        if let progress = outlets?.progress { Self.publish(news, progress) }
        for continuation in outlets?.sequences.values ?? [:].values { continuation.yield(news) }
    }

    func finish(isSuccess: Bool) {
        let all = state.withLock { state in
            state.isSuccess = isSuccess
            let all = Array(state.outlets.values)
            for direction in state.outlets.keys { state.outlets[direction]?.sequences = [:] }
            return all
        }
        for outlets in all {
            if isSuccess, let progress = outlets.progress { Self.complete(outlets.last, progress) }
            for continuation in outlets.sequences.values { continuation.finish() }
        }
    }

    private static func publish(_ news: TransferProgress, _ progress: ReportedProgress) {
        progress.publish(completed: news.bytes, total: news.expected ?? -1)
    }

    /// The progress is complete, whatever the length: 0 of 0 would not be.
    private static func complete(_ last: TransferProgress?, _ progress: ReportedProgress) {
        let units = max(1, last?.bytes ?? 0)
        progress.publish(completed: units, total: units)
    }
}
