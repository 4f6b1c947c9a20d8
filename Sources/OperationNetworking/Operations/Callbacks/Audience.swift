/// The receivers of an operation's events on its completion queue.
///
/// A program may never run its main queue, on which callbacks run by default. There is one rule for that: only
/// an audience is waited for. What else is meant for the queue is delivered when it runs, nothing waits for
/// that, and little is kept for it.
///
/// | without an audience                       | is kept for a queue that does not run                |
/// |-------------------------------------------|------------------------------------------------------|
/// | an operation's notifications and progress | the last 256 finished operations: ``DeliveryLine``   |
/// | a batch's progress, if it is used         | its counts: ``BatchTracker/conclude(_:then:)``       |
/// | a session's notifications                 | nothing else: a task is an operation                 |
///
/// | closures, observers, or a subclass | completion counts for batches | closures are released   | the group is entered |
/// |------------------------------------|-------------------------------|-------------------------|----------------------|
/// | none of them                       | with `isFinished`             | with `isFinished`       | never                |
/// | one of them                        | after the last callback       | after the last callback | for each delivery    |
///
/// The closures are those called on the completion queue: progress, the result, `completionBlock`. A
/// `NotificationCenter` does not reveal whether it has observers, so notifications are not an audience. A
/// `Progress` has a value at any time.
struct Audience: Hashable, Sendable {
    /// Closures for progress or the result, or a `completionBlock`.
    var hasClosures: Bool
    var hasObservers: Bool
    /// Whether a subclass may have overridden `didReceive` or `didFinish`.
    var isSubclass: Bool

    var needsQueue: Bool { hasClosures || hasObservers || isSubclass }
}
