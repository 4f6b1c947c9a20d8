internal import OperationNetworkingSystem

/// An object that makes operations, and has observers for them: a manager.
protocol OperationMaker: AnyObject, Sendable {
    /// The observers of an operation that is made now.
    var observersOfNewOperation: [any OperationObserver] { get }
    /// The closure that answers its challenges.
    var challengeOfNewOperation: ConnectionOperation.AuthenticationChallengeHandler? { get }
}

/// The manager that made an operation, for the operation's copies: not kept, since its operations may outlive
/// it.
///
/// All operations of a manager have one reference, so each pays for a pointer.
final class ManagerReference: Sendable {
    private struct Aim {
        weak var manager: (any OperationMaker)?
    }

    private let aim = Locked(Aim())

    /// Called once, before the manager makes an operation.
    func refer(to manager: any OperationMaker) {
        aim.withLock { $0.manager = manager }
    }

    /// The observers of an operation that the manager makes now; `nil`: the manager is gone. Not to be asked
    /// with a lock held.
    var observers: [any OperationObserver]? { manager?.observersOfNewOperation }

    /// As ``observers``, for the closure of challenges.
    var challenge: ConnectionOperation.AuthenticationChallengeHandler? { manager?.challengeOfNewOperation }

    private var manager: (any OperationMaker)? { aim.withLock { $0.manager } }
}
