import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Counts the members of a batch, and their bytes, and tells when all have ended.
///
/// The members keep it, by their seats. It keeps a member only after that has finished: a batch whose members were
/// dropped goes with them.
final class BatchCount: Sendable {
    /// Seconds between two updates of the `Progress`.
    private static let publishingInterval = 0.05

    private struct State {
        var estimate: BatchEstimate
        var meter: ThroughputMeter
        /// By index; those that have not finished, or left, are not there.
        var finished: [ConnectionOperation?]
        var hasEnded: [Bool]
        /// Of the first that failed.
        var failure: Int?
        var whenFailed: (@Sendable () -> Void)?
        var whenComplete: [@Sendable () -> Void] = []
        var isComplete = false
        var isPublishing = false
    }

    /// Serial, and on the user's queue: counts arrive in order even if that one is concurrent.
    let queue: DispatchQueue
    let progress = BatchProgress()
    private let group = DispatchGroup()
    private let told = Locked(0)
    private let total: Int
    private let heard: (@Sendable (Int, Int) -> Void)?
    private let state: Locked<State>

    /// `heard` hears, on `queue`, how many of how many members have ended.
    init(total: Int, completionQueue: DispatchQueue?, heard: (@Sendable (Int, Int) -> Void)?) {
        self.total = total
        self.heard = heard
        queue = DispatchQueue(label: "OperationNetworking.batch", target: completionQueue ?? .main)
        state = Locked(
            State(
                estimate: BatchEstimate(count: total),
                meter: ThroughputMeter(now: MonotonicTime.now.seconds),
                finished: Array(repeating: nil, count: total),
                hasEnded: Array(repeating: false, count: total)
            )
        )
        progress.publish(state.withLock { $0.estimate })
        for _ in 0..<total { group.enter() }
    }

    /// Tells `body`, on the queue, when all have ended, after everything that was told of the members.
    func notify(after others: [BatchCount] = [], _ body: @escaping @Sendable () -> Void) {
        for other in others {
            group.enter()
            other.whenComplete { [group] in group.leave() }
        }
        group.notify(queue: queue) {
            self.publish()
            let whenComplete = self.state.withLock { state in
                state.isComplete = true
                defer { state.whenComplete = [] }
                return state.whenComplete
            }
            body()
            for body in whenComplete { body() }
        }
    }

    func whenComplete(_ body: @escaping @Sendable () -> Void) {
        let isComplete = state.withLock { state in
            if !state.isComplete { state.whenComplete.append(body) }
            return state.isComplete
        }
        if isComplete { body() }
    }

    /// Calls `body` once, when the first member has failed: on any thread.
    func whenFirstFailed(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenFailed = body }
    }

    // MARK: - What the seats tell

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

    func memberDidFinish(_ index: Int, _ member: ConnectionOperation) {
        let failed = state.withLock { state -> (@Sendable () -> Void)? in
            state.finished[index] = member
            guard state.failure == nil, member.error != nil, !member.isCancelled else { return nil }
            state.failure = index
            defer { state.whenFailed = nil }
            return state.whenFailed
        }
        failed?()
        memberLeft(index)
    }

    /// The member has finished, or nobody keeps it any longer.
    func memberLeft(_ index: Int) {
        let isFirst = state.withLock { state in
            guard !state.hasEnded[index] else { return false }
            state.hasEnded[index] = true
            return true
        }
        guard isFirst else { return }
        record { $0.finish(index) }
        queue.async {
            let count = self.told.withLock { told in
                told += 1
                return told
            }
            self.heard?(count, self.total)
            self.group.leave()
        }
    }

    private func publish() {
        let estimate = state.withLock { state in
            state.isPublishing = false
            return state.estimate
        }
        progress.publish(estimate)
    }

    // MARK: - What can be said

    var finished: [ConnectionOperation?] { state.withLock { $0.finished } }

    var failure: ConnectionOperation? {
        state.withLock { state in state.failure.flatMap { state.finished[$0] } }
    }

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
            return state.meter.timeLeft(expected: state.estimate.remaining.map { transferred + $0 })
        }
    }
}
