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
        // What is replaced is released after the lock: that may run anything.
        withExtendedLifetime(old) {}
    }
}

extension ConnectionOperation {
    /// The number of connections to one scheme, host and port that may carry transfers at once: 6 unless set,
    /// and at least 1. The limit is for operations without a manager, which are counted together. It is also
    /// the default of managers, each of which counts its own: ``OperationManager/maximumConnectionsPerHost``.
    ///
    /// An HTTP/2 connection counts once, however many transfers it carries. A connection does not count when
    /// its transfer has been held for a second, because the response has nowhere to go or the request's body
    /// has nothing to send yet; an idle connection does not count either. A held transfer that can go on does
    /// so at once.
    ///
    /// An operation that waits for a connection is executing, and keeps its place in the queue: the smaller
    /// of this limit and the queue's `maxConcurrentOperationCount` decides. Waiting operations begin by
    /// `queuePriority`, as it was when they started, and then in order. No timeout but
    /// ``Timeouts/total`` counts the time in which they wait.
    ///
    /// A new value counts at once. Can be used on any thread.
    public static var maximumConnectionsPerHost: Int {
        get { ConnectionLimit.process.value }
        set { ConnectionLimit.process.own = newValue }
    }
}

extension ConnectionOperation {
    /// Runs `body` on the network thread and lends it the thread's run loop, for a `Timer` or a stream of
    /// yours.
    ///
    /// Nothing that may wait belongs on that thread: every transfer of the process would wait with it.
    package static func withNetworkRunLoop(_ body: @escaping @Sendable (RunLoop) -> Void) {
        NetworkThread.shared.withRunLoop(body)
    }
}
