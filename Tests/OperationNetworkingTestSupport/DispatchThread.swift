import Dispatch

/// Runs `work` where serializers run: on a thread of a dispatch queue, with its small stack.
func onDispatchThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "work").async { continuation.resume(returning: work()) }
    }
}
