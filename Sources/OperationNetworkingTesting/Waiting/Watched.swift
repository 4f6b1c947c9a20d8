internal import Foundation

/// A value behind a lock on which threads and tasks can wait. Each waiter's condition is checked after every
/// change; there is no polling.
final class Watched<Value: Sendable>: @unchecked Sendable {
    // @unchecked: `value`, `watchers` and `nextIdentifier` are only accessed while `condition` is locked.

    /// One suspended task.
    private struct Watcher {
        let identifier: Int
        /// Returns the work to do after unlocking if the task's condition is met.
        let completion: (inout Value) -> (() -> Void)?
        let fail: (any Error) -> Void
    }

    private let condition = NSCondition()
    private var value: Value
    private var watchers: [Watcher] = []
    private var nextIdentifier = 0

    init(_ value: Value) {
        self.value = value
    }

    // MARK: - Reading and changing

    /// Runs `body` with the value under the lock; then wakes the waiters whose condition is met.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        condition.lock()
        defer { unlockAndWake() }
        return try body(&value)
    }

    // MARK: - Waiting

    /// Suspends the task until `result`, which is called under the lock and may change the value, returns a
    /// result.
    ///
    /// - Throws: `TimeLimitExceeded`, or `CancellationError` if the task is cancelled.
    func wait<Result: Sendable>(
        within limit: Duration,
        explaining explanation: @escaping @Sendable (Value) -> String,
        until result: @escaping @Sendable (inout Value) -> Result?
    ) async throws -> Result {
        let identifier = newIdentifier()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isWaiting = register(identifier, continuation, result)
                guard isWaiting else { return }
                DispatchQueue.global().asyncAfter(deadline: .now() + limit.inSeconds) { [weak self] in
                    self?.endWait(identifier) {
                        TimeLimitExceeded(explanation: explanation($0), limit: limit)
                    }
                }
            }
        } onCancel: {
            endWait(identifier) { _ in CancellationError() }
        }
    }

    /// Blocks the thread until `result` returns a result; without a limit, indefinitely. Must not be called
    /// from a task.
    func waitSynchronously<Result>(
        within limit: Duration?,
        explaining explanation: (Value) -> String,
        until result: (inout Value) -> Result?
    ) throws(TimeLimitExceeded) -> Result {
        let end = limit.map { Date(timeIntervalSinceNow: $0.inSeconds) }
        condition.lock()
        defer { unlockAndWake() }
        while true {
            if let result = result(&value) { return result }
            guard let limit, let end else {
                condition.wait()
                continue
            }
            if !condition.wait(until: end) {
                throw TimeLimitExceeded(explanation: explanation(value), limit: limit)
            }
        }
    }

    // MARK: - Watchers

    private func newIdentifier() -> Int {
        condition.lock()
        defer { condition.unlock() }
        nextIdentifier += 1
        return nextIdentifier
    }

    /// Returns whether the task has to wait.
    private func register<Result: Sendable>(
        _ identifier: Int,
        _ continuation: CheckedContinuation<Result, any Error>,
        _ result: @escaping @Sendable (inout Value) -> Result?
    ) -> Bool {
        condition.lock()
        defer { unlockAndWake() }
        // The cancellation handler may have run before the watcher was registered.
        if Task.isCancelled {
            continuation.resume(throwing: CancellationError())
            return false
        }
        if let result = result(&value) {
            continuation.resume(returning: result)
            return false
        }
        watchers.append(
            Watcher(
                identifier: identifier,
                completion: { value in
                    result(&value).map { result in { continuation.resume(returning: result) } }
                },
                fail: { continuation.resume(throwing: $0) }
            )
        )
        return true
    }

    private func endWait(_ identifier: Int, _ error: (Value) -> any Error) {
        condition.lock()
        guard let index = watchers.firstIndex(where: { $0.identifier == identifier }) else {
            condition.unlock()
            return
        }
        let watcher = watchers.remove(at: index)
        let error = error(value)
        condition.unlock()
        watcher.fail(error)
    }

    /// Unlocks, and then resumes the tasks whose condition is met.
    private func unlockAndWake() {
        var completions: [() -> Void] = []
        if !watchers.isEmpty {
            watchers.removeAll { watcher in
                guard let completion = watcher.completion(&value) else { return false }
                completions.append(completion)
                return true
            }
        }
        condition.broadcast()
        condition.unlock()
        for completion in completions { completion() }
    }
}

extension Duration {
    /// The duration in seconds, for Foundation and Dispatch.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
