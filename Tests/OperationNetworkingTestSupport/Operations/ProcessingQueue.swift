import Dispatch

@testable import OperationNetworking

/// Serializers, and closures that decide, have returned if they were called before.
func processingIsDone() async {
    await onDispatchThread { ConnectionOperation.processingQueue.sync(flags: .barrier) {} }
}
