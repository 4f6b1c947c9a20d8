package import Dispatch
internal import OperationNetworkingSystem

/// The place where a closure of the user's has to be called: that of the code in which it was written.
///
/// | written in            | `isolation`        | home     | called on                     |
/// |-----------------------|--------------------|----------|-------------------------------|
/// | nonisolated code      | `nil`              | anywhere | the completion queue          |
/// | main-actor code       | `MainActor.shared` | main     | the main queue                |
/// | code of another actor | that actor         | actor    | the actor, by a task          |
///
/// Callbacks stay in order wherever they are called: the next one waits until the one elsewhere has returned.
enum ClosureHome: Sendable {
    case anywhere
    case main
    case actor(any Actor)

    /// - Parameter isolation: of the closure.
    init(_ isolation: (any Actor)?) {
        guard let isolation else {
            self = .anywhere
            return
        }
        self = isolation === MainActor.shared ? .main : .actor(isolation)
    }

    /// Whether the closure can be called at once, on the completion queue.
    func isHere(onMain: Bool) -> Bool {
        switch self {
        case .anywhere: true
        case .main: onMain
        case .actor: false
        }
    }

    /// Has `body` called where the closure belongs, later.
    ///
    /// - Parameters:
    ///   - queue: of a closure that belongs anywhere.
    ///   - body: calls the closure.
    func perform(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        switch self {
        case .anywhere: queue.async(execute: body)
        // Not by a task: it would come behind the blocks that others put into the main queue meanwhile.
        case .main: DispatchQueue.main.async(execute: body)
        case .actor(let actor): Task { await Self.call(body, on: actor) }
        }
    }

    private static func call(_ body: @Sendable () -> Void, on actor: isolated any Actor) {
        body()
    }
}

/// A call of a closure that may belong elsewhere than on the completion queue.
package struct Detour: Sendable {
    private let home: ClosureHome
    private let body: @Sendable () -> Detour?

    /// - Parameters:
    ///   - home: of the closure.
    ///   - body: calls it, there.
    init(_ home: ClosureHome, _ body: @escaping @Sendable () -> Void) {
        self.home = home
        self.body = {
            body()
            return nil
        }
    }

    /// A call that another one follows.
    ///
    /// - Parameters:
    ///   - home: of the closure.
    ///   - body: calls it, there, and answers with the call that follows it.
    /// - Returns: the call of both.
    static func leading(_ home: ClosureHome, _ body: @escaping @Sendable () -> Detour?) -> Detour {
        Detour(home: home, body: body)
    }

    private init(home: ClosureHome, body: @escaping @Sendable () -> Detour?) {
        self.home = home
        self.body = body
    }

    /// Calls the closure if it belongs on this queue.
    /// - Returns: what is still to be called, elsewhere.
    func callHere(onMain: Bool) -> Detour? {
        guard home.isHere(onMain: onMain) else { return self }
        return body()?.callHere(onMain: onMain)
    }

    /// Calls the closure; to be used only where it belongs.
    private func callAtHome() {
        body()?.call {}
    }

    /// Calls the closure where it belongs, later.
    ///
    /// - Parameter queue: of a closure that belongs anywhere.
    package func perform(on queue: DispatchQueue) {
        home.perform(on: queue) { self.callAtHome() }
    }

    /// Calls the closure where it belongs, and then `next`, there too: at once if it belongs anywhere.
    ///
    /// - Parameters:
    ///   - queue: of a closure that belongs anywhere and follows one that does not; `nil`: where that was.
    ///   - next: called at the end.
    package func call(from queue: DispatchQueue? = nil, then next: @escaping @Sendable () -> Void) {
        if case .anywhere = home { return go(body(), from: queue, then: next) }
        home.perform(on: .main) { go(body(), from: queue, then: next) }
    }

    /// The call that follows this one.
    private func go(_ call: Detour?, from queue: DispatchQueue?, then next: @escaping @Sendable () -> Void) {
        guard let call else { return next() }
        guard let queue, case .anywhere = call.home else { return call.call(from: queue, then: next) }
        queue.async { call.call(from: queue, then: next) }
    }

    /// Several calls as one, in order; `nil` for none.
    static func inOrder(_ calls: some BidirectionalCollection<Detour>) -> Detour? {
        calls.reversed().reduce(nil) { next, call in
            Detour.leading(call.home) {
                guard let rest = call.body() else { return next }
                return inOrder([rest] + (next.map { [$0] } ?? []))
            }
        }
    }
}

extension Detour {
    /// The call of a closure without arguments.
    package init(_ closure: @escaping @isolated(any) @Sendable () -> Void) {
        let plain = IsolatedFunction.Nullary(closure).plain
        self.init(ClosureHome(closure.isolation)) { plain() }
    }

    /// The call of a closure of one argument.
    init<Argument: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (Argument) -> Void,
        _ argument: Argument
    ) {
        let plain = IsolatedFunction.Unary(closure).plain
        self.init(ClosureHome(closure.isolation)) { plain(argument) }
    }

    /// The call of a closure of two arguments.
    init<First: Sendable, Second: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (First, Second) -> Void,
        _ first: First,
        _ second: Second
    ) {
        let plain = IsolatedFunction.Binary(closure).plain
        self.init(ClosureHome(closure.isolation)) { plain(first, second) }
    }

    /// The call of a closure of four arguments.
    init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (First, Second, Third, Fourth) -> Void,
        _ first: First,
        _ second: Second,
        _ third: Third,
        _ fourth: Fourth
    ) {
        let plain = IsolatedFunction.Quaternary(closure).plain
        self.init(ClosureHome(closure.isolation)) { plain(first, second, third, fourth) }
    }

    /// The call of a closure of three arguments.
    package init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (First, Second, Third) -> Void,
        _ first: First,
        _ second: Second,
        _ third: Third
    ) {
        let plain = IsolatedFunction.Ternary(closure).plain
        self.init(ClosureHome(closure.isolation)) { plain(first, second, third) }
    }
}
