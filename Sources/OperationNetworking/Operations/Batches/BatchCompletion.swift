internal import OperationNetworkingSystem

/// The completion of a batch: a list of closures, each of which is called once when the batch is complete.
/// Can be used from any thread.
final class BatchCompletion: Sendable {
    /// In order; `nil`: it is complete.
    private let waiting = Locked<[@Sendable () -> Void]?>([])

    /// Calls `body` when the batch is complete, on the thread of ``complete()``; if it is already, here and
    /// now.
    func whenComplete(_ body: @escaping @Sendable () -> Void) {
        let isComplete = waiting.withLock { waiting in
            waiting?.append(body)
            return waiting == nil
        }
        if isComplete { body() }
    }

    /// Calls all closures, in the order in which they came. A second call has no effect.
    func complete() {
        let bodies = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for body in bodies { body() }
    }
}
