internal import OperationNetworkingSystem

/// An object that makes operations and has observers for them: a manager.
protocol OperationMaker: AnyObject, Sendable {
    /// The observers of an operation that is made now.
    var observersOfNewOperation: [any OperationObserver] { get }
    /// The challenge closure of an operation that is made now.
    var challengeOfNewOperation: ConnectionOperation.AuthenticationChallengeHandler? { get }
}

/// A weak reference to the manager that made an operation, for the operation's copies. Operations may outlive
/// their manager.
///
/// All operations of a manager share one reference, so each costs a pointer.
final class ManagerReference: Sendable {
    private struct Target {
        weak var manager: (any OperationMaker)?
    }

    private let target = Locked(Target())

    /// Called once, before the manager makes an operation.
    func refer(to manager: any OperationMaker) {
        target.withLock { $0.manager = manager }
    }

    /// The observers of an operation that the manager makes now; `nil` if the manager has been released. Must
    /// not be called with a lock held.
    var observers: [any OperationObserver]? { manager?.observersOfNewOperation }

    /// As ``observers``, for the challenge closure.
    var challenge: ConnectionOperation.AuthenticationChallengeHandler? { manager?.challengeOfNewOperation }

    private var manager: (any OperationMaker)? { target.withLock { $0.manager } }
}
