/// A listener of a task, on the completion queue, besides its closures: a binding.
struct TaskEar: Sendable {
    enum Event: Sendable {
        /// The task was resumed, or suspended; and, first, whether it runs now.
        case isRunning(Bool)
        case didMove(ProgressDirection, total: Int64, expected: Int64)
        /// The last one.
        case didComplete
    }

    /// Names the listener.
    let listener: ObjectIdentifier
    /// Keeps the listener. Answers with the call of its closure.
    let hear: @Sendable (Event) -> Detour?
}
