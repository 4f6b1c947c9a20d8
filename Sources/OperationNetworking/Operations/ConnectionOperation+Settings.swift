package import Foundation
internal import OperationNetworkingSystem

extension ConnectionOperation: TransferConfigurable {
    /// Reads the settings of the operation's transfers.
    public func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value {
        state.withLock { body($0.configuration.settings) }
    }

    /// Changes the settings of the operation's transfers, before it starts.
    public func changeTransferSettings(_ body: (inout TransferSettings) -> Void) {
        configure { body(&$0.configuration.settings) }
    }
}

extension ConnectionOperation {
    /// The number of connections to one scheme, host and port that may carry transfers at once: 6 unless set,
    /// and at least 1. For operations without a manager, which are counted together, and the default of
    /// managers, each of which counts its own; see ``OperationManager/maximumConnectionsPerHost``.
    ///
    /// A connection of HTTP/2 counts once, whatever it carries. One whose transfer cannot go on does not
    /// count after a second: its response has nowhere to go, or its request's body has nothing yet. Nor does
    /// one that is kept for later. A transfer that can go on again does so at once.
    ///
    /// An operation that waits for a connection is executing, and keeps its place in the queue: of this limit
    /// and the queue's `maxConcurrentOperationCount` the smaller one decides. Those that wait begin by
    /// `queuePriority`, as it was when they started, and then in order. No timeout but
    /// ``TransferSettings/totalTimeout`` counts the time in which they wait.
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
