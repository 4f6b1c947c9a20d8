/// A task's wait for an end that comes on any thread, or for the task's own cancellation: the first of both
/// ends it.
///
/// | phase   | begins            | ends              |
/// |---------|-------------------|-------------------|
/// | idle    | waiting           | over              |
/// | waiting | -                 | over, and resumes |
/// | over    | resumes at once   | -                 |
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

    /// Returns when what was given to `whenOver` was called, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - whenOver: gets what is to be called at the end, at once perhaps, and on any thread.
    ///   - onCancel: called when the task is cancelled, on any thread; answers whether that ends the wait.
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
