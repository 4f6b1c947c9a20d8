internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Answers of a test, in place of the network; `nil`, as it is unless set: there are none. Counts when it
    /// is set before the operation starts.
    public var stubs: RequestStubs? {
        get { state.withLock { $0.settings.layers[.stubs] as? RequestStubs } }
        set { configure { $0.settings.layers[.stubs] = newValue } }
    }
}
