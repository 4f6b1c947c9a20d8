import Dispatch
internal import OperationNetworkingSystem

/// The place where a closure of the user's has to be called: that of the code in which it was written.
///
/// | written in           | `isolation`        | home     | called on                       |
/// |----------------------|--------------------|----------|---------------------------------|
/// | nonisolated code     | `nil`              | anywhere | the completion queue            |
/// | main-actor code      | `MainActor.shared` | main     | the main queue                  |
/// | code of another actor | that actor        | actor    | the actor, by a task            |
///
/// Callbacks stay in order wherever they are called: the next one waits until the one elsewhere has returned.
enum ClosureHome {
    case anywhere
    case main
    case actor

    /// - Parameter isolation: of the closure.
    init(_ isolation: (any Actor)?) {
        guard let isolation else {
            self = .anywhere
            return
        }
        self = isolation === MainActor.shared ? .main : .actor
    }

    /// Whether the closure can be called at once, on the completion queue.
    func isHere(onMain: Bool) -> Bool {
        switch self {
        case .anywhere: true
        case .main: onMain
        case .actor: false
        }
    }
}

/// A call of a closure that may belong elsewhere than on the completion queue.
struct Detour: Sendable {
    private let home: ClosureHome
    private let plain: @Sendable () -> Void
    private let isolated: @Sendable () async -> Void

    /// - Parameters:
    ///   - home: of the closure.
    ///   - plain: calls it, there.
    ///   - isolated: calls it from anywhere.
    init(
        _ home: ClosureHome,
        plain: @escaping @Sendable () -> Void,
        isolated: @escaping @Sendable () async -> Void
    ) {
        self.home = home
        self.plain = plain
        self.isolated = isolated
    }

    /// Calls the closure if it belongs on this queue.
    /// - Returns: whether it did.
    func callHere(onMain: Bool) -> Bool {
        guard home.isHere(onMain: onMain) else { return false }
        plain()
        return true
    }

    /// Calls the closure where it belongs, and then `next`, there too.
    func call(then next: @escaping @Sendable () -> Void) {
        switch home {
        case .anywhere:
            plain()
            next()
        case .main:
            // Not by a task: it would come behind the blocks that others put into the main queue meanwhile.
            DispatchQueue.main.async {
                plain()
                next()
            }
        case .actor:
            Task {
                await isolated()
                next()
            }
        }
    }
}

extension Detour {
    /// The call of a closure of one argument.
    init<Argument: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (Argument) -> Void,
        _ argument: Argument
    ) {
        let plain = IsolatedFunction.Unary(closure).plain
        self.init(ClosureHome(closure.isolation)) {
            plain(argument)
        } isolated: {
            await closure(argument)
        }
    }

    /// The call of a closure of two arguments.
    init<First: Sendable, Second: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (First, Second) -> Void,
        _ first: First,
        _ second: Second
    ) {
        let plain = IsolatedFunction.Binary(closure).plain
        self.init(ClosureHome(closure.isolation)) {
            plain(first, second)
        } isolated: {
            await closure(first, second)
        }
    }

    /// The call of a closure of three arguments.
    init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ closure: @escaping @isolated(any) @Sendable (First, Second, Third) -> Void,
        _ first: First,
        _ second: Second,
        _ third: Third
    ) {
        let plain = IsolatedFunction.Ternary(closure).plain
        self.init(ClosureHome(closure.isolation)) {
            plain(first, second, third)
        } isolated: {
            await closure(first, second, third)
        }
    }
}
