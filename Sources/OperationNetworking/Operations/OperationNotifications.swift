public import Foundation
internal import OperationNetworkingSystem

extension Notification.Name {
    /// Posted when a transfer of an operation begins, for the first time or after a pause. The object is the
    /// operation.
    ///
    /// Posted on the operation's `completionQueue`; each is followed by exactly one ``operationDidFinish``.
    /// Nothing waits for notifications, so in a program that never runs its main queue they would accumulate.
    /// Both are therefore dropped for an operation without another owner, closures or observers, if 256 later
    /// such operations have finished before the main queue ran.
    ///
    /// Not posted for session tasks, which have separate notifications, nor for the requests of an image
    /// downloader.
    public static let operationDidStart = Notification.Name("OperationNetworking.operation.start")

    /// Posted when a transfer of an operation has ended, or was stopped by a pause. The object is the
    /// operation.
    public static let operationDidFinish = Notification.Name("OperationNetworking.operation.finish")

    /// The internal counterpart, posted for an operation without ``ConnectionOperation/postsNotifications``.
    /// Used to count the activity of the process.
    static let innerOperationDidStart = Notification.Name("OperationNetworking.operation.inner.start")
    static let innerOperationDidFinish = Notification.Name("OperationNetworking.operation.inner.finish")
}

/// An object that represents an operation and posts notifications for it. Called right after the operation's
/// notifications are posted.
protocol OperationRepresentative: AnyObject, Sendable {
    /// A transfer begins, for the first time or after a pause.
    func operationDidResume()

    /// The running transfer was stopped by a pause.
    func operationDidPause()
}

/// A weak reference to a representative, which retains its operation.
struct WeakRepresentative {
    weak var representative: (any OperationRepresentative)?
}

extension ConnectionOperation {
    /// The object that represents the operation. Not retained.
    var representative: (any OperationRepresentative)? {
        get { state.withLock { $0.representative?.representative } }
        set { state.change { $0.representative = WeakRepresentative(representative: newValue) } }
    }
}

/// Posts the notifications.
final class NotificationPoster: OperationObserver {
    func operationDidStart(_ operation: ConnectionOperation) {
        postStart(operation)
    }

    func operationDidPause(_ operation: ConnectionOperation) {
        postFinish(operation)
        operation.representative?.operationDidPause()
    }

    func operationDidResume(_ operation: ConnectionOperation) {
        postStart(operation)
    }

    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        if wasRunning { postFinish(operation) }
    }

    private func postStart(_ operation: ConnectionOperation) {
        let (isPublic, representative) = operation.state.withLock {
            ($0.postsNotifications, $0.representative?.representative)
        }
        post(isPublic ? .operationDidStart : .innerOperationDidStart, operation)
        representative?.operationDidResume()
    }

    private func postFinish(_ operation: ConnectionOperation) {
        post(operation.postsNotifications ? .operationDidFinish : .innerOperationDidFinish, operation)
    }

    private func post(_ name: Notification.Name, _ operation: ConnectionOperation) {
        NotificationCenter.default.post(name: name, object: operation)
    }
}
