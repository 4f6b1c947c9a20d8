package import Dispatch
internal import OperationNetworkingSystem

/// The call of a closure of the caller's, which is made where the closure was written.
///
/// | written in            | `isolation`        | called on                     |
/// |-----------------------|--------------------|-------------------------------|
/// | nonisolated code      | `nil`              | the completion queue          |
/// | main-actor code       | `MainActor.shared` | the main queue                |
/// | code of another actor | that actor         | the actor, by a task          |
///
/// Callbacks stay in order wherever they are called: the next one waits until the one elsewhere has returned.
package struct Callback: Sendable {
    private let isolation: (any Actor)?
    private let body: @Sendable () -> Void

    /// The call of `closure`.
    package init<each Argument: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (repeat each Argument) -> Void,
        _ argument: repeat each Argument
    ) {
        self.init(in: closure.isolation) { callAssumingIsolation(of: closure, repeat each argument) }
    }

    /// - Parameters:
    ///   - isolation: of the closure.
    ///   - body: calls it.
    init(in isolation: (any Actor)?, _ body: @escaping @Sendable () -> Void) {
        self.isolation = isolation
        self.body = body
    }

    /// Calls `closure`, if it belongs on this queue, the completion queue.
    /// - Returns: `nil`, or the call that has to be made elsewhere.
    @inline(__always)
    package static func here<each Argument: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (repeat each Argument) -> Void,
        _ argument: repeat each Argument
    ) -> Callback? {
        guard isHere(closure.isolation) else { return Callback(closure, repeat each argument) }
        callAssumingIsolation(of: closure, repeat each argument)
        return nil
    }

    /// Calls the closure, if it belongs on this queue, the completion queue.
    /// - Returns: `nil`, or the call that has to be made elsewhere.
    func callHere() -> Callback? {
        guard Self.isHere(isolation) else { return self }
        body()
        return nil
    }

    private static func isHere(_ isolation: (any Actor)?) -> Bool {
        guard let isolation else { return true }
        return isolation === MainActor.shared && MainQueue.isCurrent
    }

    /// Calls the closure where it belongs, and then `next`, there too: at once if it has no isolation.
    package func call(then next: @escaping @Sendable () -> Void = {}) {
        guard let isolation else {
            body()
            return next()
        }
        let body = body
        if isolation === MainActor.shared {
            // Not by a task: it would come behind the blocks that others put into the main queue meanwhile.
            DispatchQueue.main.async {
                body()
                next()
            }
            MainQueue.noteCallback(on: .main)
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

    /// Calls the closure where it belongs, later.
    ///
    /// - Parameter queue: of a closure without isolation.
    package func perform(on queue: DispatchQueue) {
        guard isolation == nil else { return call() }
        queue.async(execute: body)
        MainQueue.noteCallback(on: queue)
    }
}
