public import Foundation

extension Notification.Name {
    /// A transfer of an operation begins, for the first time or after a pause. The object is the operation.
    ///
    /// Posted on the operation's `completionQueue`; each is followed by exactly one ``operationDidFinish``.
    /// Nothing waits for notifications. In a program that never runs its main queue they would pile up. So
    /// both are left out for an operation without another owner, closures or observers, if 256 later such
    /// operations have ended before the main queue ran.
    public static let operationDidStart = Notification.Name("OperationNetworking.operation.start")

    /// A transfer of an operation has ended, or was stopped by a pause. The object is the operation.
    public static let operationDidFinish = Notification.Name("OperationNetworking.operation.finish")
}

/// Posts the notifications.
final class NotificationPoster: OperationObserver {
    func operationDidStart(_ operation: ConnectionOperation) {
        post(.operationDidStart, operation)
    }

    func operationDidPause(_ operation: ConnectionOperation) {
        post(.operationDidFinish, operation)
    }

    func operationDidResume(_ operation: ConnectionOperation) {
        post(.operationDidStart, operation)
    }

    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        if wasRunning { post(.operationDidFinish, operation) }
    }

    private func post(_ name: Notification.Name, _ operation: ConnectionOperation) {
        NotificationCenter.default.post(name: name, object: operation)
    }
}
