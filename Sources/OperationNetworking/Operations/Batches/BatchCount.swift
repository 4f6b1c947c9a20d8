import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Counts the members of a batch, and tells when all have ended.
///
/// The members keep it, by their seats. It keeps a member only after that has finished: a batch whose members were
/// dropped goes with them.
final class BatchCount: Sendable {
    private struct State {
        /// By index; those that have not finished, or left, are not there.
        var finished: [ConnectionOperation?]
        var hasEnded: [Bool]
        /// Of the first that failed.
        var failure: Int?
        var whenFailed: (@Sendable () -> Void)?
        var whenComplete: [@Sendable () -> Void] = []
        var isComplete = false
    }

    /// Counts their bytes.
    let gauge: BatchGauge
    private let group = DispatchGroup()
    private let told = Locked(0)
    private let total: Int
    private let heard: (@Sendable (Int, Int) -> Void)?
    private let state: Locked<State>

    /// `heard` hears, on `queue`, how many of how many members have ended.
    init(total: Int, completionQueue: DispatchQueue?, heard: (@Sendable (Int, Int) -> Void)?) {
        self.total = total
        self.heard = heard
        gauge = BatchGauge(BatchEstimate(count: total), completionQueue: completionQueue)
        state = Locked(
            State(
                finished: Array(repeating: nil, count: total),
                hasEnded: Array(repeating: false, count: total)
            )
        )
        for _ in 0..<total { group.enter() }
    }

    /// Tells `body`, on the queue, when all have ended, after everything that was told of the members.
    func notify(after others: [BatchCount] = [], _ body: @escaping @Sendable () -> Void) {
        for other in others {
            group.enter()
            other.whenComplete { [group] in group.leave() }
        }
        group.notify(queue: gauge.queue) {
            self.gauge.publish()
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

    var finished: [ConnectionOperation?] { state.withLock { $0.finished } }

    var failure: ConnectionOperation? {
        state.withLock { state in state.failure.flatMap { state.finished[$0] } }
    }
}

// MARK: - BatchSeatOwner

extension BatchCount: BatchSeatOwner {
    func record(_ change: (inout BatchEstimate) -> Void) {
        gauge.record(change)
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
        gauge.record { $0.finish(index) }
        gauge.queue.async {
            let count = self.told.withLock { told in
                told += 1
                return told
            }
            self.heard?(count, self.total)
            self.group.leave()
        }
    }
}
