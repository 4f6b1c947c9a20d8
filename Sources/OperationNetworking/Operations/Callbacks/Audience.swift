/// The audience of an operation: its listeners on its completion queue. An operation without any does not
/// wait for that queue.
///
/// | closures, observers, or a subclass | the end counts for batches           | closures are released  | the group is entered |
/// |------------------------------------|--------------------------------------|------------------------|----------------------|
/// | none of them                       | with `isFinished`, on any thread     | with `isFinished`      | never                |
/// | one of them                        | after the last callback, on the queue | after the last callback | for each delivery   |
///
/// Closures are those that are called on the completion queue: progress, the result, `completionBlock`. A
/// `NotificationCenter` does not tell whether it has listeners, so notifications are no audience: they are
/// posted on the completion queue in any case, when that gets to it, and nothing waits for them.
struct Audience: Hashable, Sendable {
    /// Closures for progress or the result, or a `completionBlock`.
    var hasClosures: Bool
    var hasObservers: Bool
    /// Whether a subclass may have overridden `didReceive` or `didFinish`.
    var isSubclass: Bool

    var needsQueue: Bool { hasClosures || hasObservers || isSubclass }
}
