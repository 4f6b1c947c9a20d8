package import Dispatch
internal import OperationNetworkingSystem

/// A pending call of a user's closure, made on the executor of the code that the closure was written in.
///
/// | written in            | `isolation`        | called on                     |
/// |-----------------------|--------------------|-------------------------------|
/// | nonisolated code      | `nil`              | the completion queue          |
/// | main-actor code       | `MainActor.shared` | the main queue                |
/// | code of another actor | that actor         | the actor, in a task          |
///
/// Callbacks stay in order on whatever executor they run: each waits until the previous one has returned.
package struct Callback: Sendable {
    private let isolation: (any Actor)?
    private let body: @Sendable () -> Void
    /// Retains the object that `body` refers to weakly, until the call is made or released without a call.
    let owner: Owner?

    typealias Owner = Locked<(any AnyObject & Sendable)?>

    /// Creates a call of `closure`.
    package init<each Argument: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (repeat each Argument) -> Void,
        _ argument: repeat each Argument
    ) {
        self.init(in: closure.isolation) { callAssumingIsolation(of: closure, repeat each argument) }
    }

    /// - Parameters:
    ///   - isolation: the closure's.
    ///   - body: calls it.
    init(in isolation: (any Actor)?, _ body: @escaping @Sendable () -> Void) {
        self.isolation = isolation
        self.body = body
        owner = nil
    }

    /// Creates a call on the completion queue.
    /// - Parameters:
    ///   - object: is retained until the call is made, or until the events of an operation that waits for a
    ///     main queue are no longer kept. If others retain it then, the call is still made.
    ///   - body: called with it.
    init<Object: AnyObject & Sendable>(about object: Object, _ body: @escaping @Sendable (Object) -> Void) {
        isolation = nil
        self.body = { [weak object] in
            if let object { body(object) }
        }
        owner = Owner(object)
    }

    /// Calls `closure` if it may run on this queue, the completion queue.
    /// - Returns: `nil`, or the callback that has to run on another executor.
    @inline(__always)
    package static func here<each Argument: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (repeat each Argument) -> Void,
        _ argument: repeat each Argument
    ) -> Callback? {
        guard isHere(closure.isolation) else { return Callback(closure, repeat each argument) }
        callAssumingIsolation(of: closure, repeat each argument)
        return nil
    }

    /// Calls the closure if it may run on this queue, the completion queue.
    /// - Returns: `nil`, or the callback that has to run on another executor.
    func callHere() -> Callback? {
        guard Self.isHere(isolation) else { return self }
        body()
        return nil
    }

    /// Whether a closure with this isolation may run on this queue, the completion queue.
    private static func isHere(_ isolation: (any Actor)?) -> Bool {
        guard let isolation else { return true }
        return isolation === MainActor.shared && MainQueue.isCurrent
    }

    /// Calls the closure and then `next` on the closure's executor; at once if it has no isolation.
    package func call(then next: @escaping @Sendable () -> Void = {}) {
        guard let isolation else {
            body()
            return next()
        }
        let body = body
        if isolation === MainActor.shared {
            // Not in a task, which would run after blocks that others enqueue on the main queue in between.
            MainQueue.noteCallback(on: .main)
            DispatchQueue.main.async {
                body()
                next()
            }
        } else {
            Task { await Self.call(body, next, on: isolation) }
        }
    }

    private static func call(
        _ body: @Sendable () -> Void,
        _ next: @Sendable () -> Void,
        on actor: isolated any Actor
    ) {
        body()
        next()
    }

    /// Schedules the closure on its executor.
    ///
    /// - Parameter queue: the queue of a closure without isolation.
    package func perform(on queue: DispatchQueue) {
        guard isolation == nil else { return call() }
        MainQueue.noteCallback(on: queue)
        queue.async(execute: body)
    }
}
