/// The receivers of an operation's events on its completion queue.
///
/// A program may never run its main queue, on which callbacks run by default. There is one rule for that: an end
/// waits for what somebody has asked for, and for nothing else.
///
/// | for the queue                                   | the end waits | kept for a main queue that does not run   |
/// |-------------------------------------------------|---------------|-------------------------------------------|
/// | closures; observers; a subclass's hooks         | yes           | all of it, until it runs                  |
/// | a batch's `Progress`, if not on the main queue  | yes           |                                           |
/// | a `Progress` that was asked for, otherwise      | no            | what it counts, until it runs             |
/// | notifications, of tasks and operations          | no            | the last 256 that ended: ``DeliveryLine`` |
/// | a session that is invalid: its notification     | no            | the session, until it runs                |
///
/// | closures, observers, or a subclass | completion counts for batches | closures are released   | the group is entered |
/// |------------------------------------|-------------------------------|-------------------------|----------------------|
/// | none of them                       | with `isFinished`             | with `isFinished`       | never                |
/// | one of them                        | after the last callback       | after the last callback | for each delivery    |
///
/// The closures are those called on the completion queue: progress, the result, `completionBlock`. A
/// `NotificationCenter` does not reveal whether it has observers, so notifications are not an audience.
struct Audience: Hashable, Sendable {
    /// Closures for progress or the result, or a `completionBlock`.
    var hasClosures: Bool
    var hasObservers: Bool
    /// Whether a subclass may have overridden `didReceive` or `didFinish`.
    var isSubclass: Bool

    var needsQueue: Bool { hasClosures || hasObservers || isSubclass }
}
