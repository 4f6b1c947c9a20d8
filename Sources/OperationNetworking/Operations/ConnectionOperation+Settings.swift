package import Foundation
internal import OperationNetworkingSystem

extension ConnectionOperation: TransferConfigurable {
    /// Reads the settings of the operation's transfers.
    public func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value {
        state.withLock { body($0.configuration.settings) }
    }

    /// Changes the settings of the operation's transfers, before it is in a queue or started.
    public func changeTransferSettings(
        named setting: StaticString,
        _ body: (inout TransferSettings) -> Void
    ) {
        let old = state.withLock { state in
            let old = state.configuration.shared
            if state.takesConfiguration(setting) { body(&state.configuration.settings) }
            return old
        }
        // The old value is released outside the lock, because that may run any code.
        withExtendedLifetime(old) {}
    }
}

extension ConnectionOperation {
    /// The maximum number of connections to one scheme, host and port that carry transfers at once. Defaults
    /// to 6; at least 1. The limit applies to operations without a manager, which are counted together. It is
    /// also the default of managers, each of which counts separately:
    /// ``OperationManager/maximumConnectionsPerHost``.
    ///
    /// An HTTP/2 connection counts once, however many transfers it carries. An idle connection does not
    /// count, nor does a connection whose transfer has been held for a second because the response has
    /// nowhere to go or the request's body has nothing to send yet. A held transfer continues as soon as it
    /// can.
    ///
    /// An operation that waits for a connection is executing and keeps its slot in the queue, so the smaller
    /// of this limit and the queue's `maxConcurrentOperationCount` applies. Waiting operations begin in order
    /// of `queuePriority`, as it was when they started, and then in order of arrival. Of the timeouts, only
    /// ``Timeouts/total`` includes the wait.
    ///
    /// A new value takes effect at once. Can be used on any thread.
    public static var maximumConnectionsPerHost: Int {
        get { ConnectionLimit.process.value }
        set { ConnectionLimit.process.own = newValue }
    }
}

extension ConnectionOperation {
    /// Runs `body` on the network thread and lends it the thread's run loop, for a `Timer` or a stream.
    ///
    /// Do not block that thread: every transfer of the process would wait.
    package static func withNetworkRunLoop(_ body: @escaping @Sendable (RunLoop) -> Void) {
        NetworkThread.shared.withRunLoop(body)
    }
}
