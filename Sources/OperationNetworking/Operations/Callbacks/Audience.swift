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

/// The audience of a batch: its listeners on its completion queue. Without any it completes on the thread on
/// which its last member ends.
///
/// | closures | `progress` was asked for | a queue was given | the completion comes                                       |
/// |----------|--------------------------|-------------------|------------------------------------------------------------|
/// | some     |                          |                   | on the queue, after what the closures and `progress` hear  |
/// | none     | yes                      | yes               | on the queue, after the last value of `progress`           |
/// | none     | yes                      | no: main          | at once; the last value of `progress` is on its way to main |
/// | none     | no                       |                   | at once                                                    |
///
/// A caller that gives a queue runs it. The main queue is what a batch gets without asking for it, and a
/// program may never run it: there only a closure is worth waiting for.
struct BatchAudience: Hashable, Sendable {
    var hasClosures: Bool
    var showsProgress: Bool
    var hasOwnQueue: Bool

    var needsQueue: Bool { hasClosures || (showsProgress && hasOwnQueue) }
}
