/// Suspends a task until it is completed from any thread, or cancelled.
///
/// | Phase   | begin           | end               |
/// |---------|-----------------|-------------------|
/// | idle    | waiting         | over              |
/// | waiting | -               | over, and resumes |
/// | over    | resumes at once | -                 |
package enum Wait {
    private enum Phase {
        case idle
        case waiting(CheckedContinuation<Void, Never>)
        case over

        mutating func begin(_ continuation: CheckedContinuation<Void, Never>)
            -> CheckedContinuation<Void, Never>?
        {
            guard case .idle = self else { return continuation }
            self = .waiting(continuation)
            return nil
        }

        mutating func end() -> CheckedContinuation<Void, Never>? {
            defer { self = .over }
            guard case .waiting(let continuation) = self else { return nil }
            return continuation
        }
    }

    /// Returns when the completion that is passed to `whenOver` is called, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - whenOver: receives the completion, which can be called on any thread, even immediately.
    ///   - onCancel: called on any thread when the task is cancelled; returns whether that ends the wait.
    package static func until(
        _ whenOver: (_ end: @escaping @Sendable () -> Void) -> Void,
        onCancel: @escaping @Sendable () -> Bool
    ) async {
        let phase = Locked(Phase.idle)
        await withTaskCancellationHandler {
            whenOver { phase.withLock { $0.end() }?.resume() }
            await withCheckedContinuation { continuation in
                phase.withLock { $0.begin(continuation) }?.resume()
            }
        } onCancel: {
            if onCancel() { phase.withLock { $0.end() }?.resume() }
        }
    }
}
