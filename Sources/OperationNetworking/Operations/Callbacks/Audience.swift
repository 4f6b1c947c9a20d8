/// The receivers of an operation's events on its completion queue. An operation without an audience does not
/// wait for that queue.
///
/// | closures, observers, or a subclass | completion counts for batches | closures are released   | the group is entered |
/// |------------------------------------|-------------------------------|-------------------------|----------------------|
/// | none of them                       | with `isFinished`             | with `isFinished`       | never                |
/// | one of them                        | after the last callback       | after the last callback | for each delivery    |
///
/// The closures are those called on the completion queue: progress, the result, `completionBlock`. A
/// `NotificationCenter` does not reveal whether it has observers, so notifications are not an audience: they
/// are posted on the completion queue whenever it runs, and nothing waits for them.
struct Audience: Hashable, Sendable {
    /// Closures for progress or the result, or a `completionBlock`.
    var hasClosures: Bool
    var hasObservers: Bool
    /// Whether a subclass may have overridden `didReceive` or `didFinish`.
    var isSubclass: Bool

    var needsQueue: Bool { hasClosures || hasObservers || isSubclass }
}
