internal import OperationNetworkingSystem

extension OperationManager {
    /// Answers of a test, in place of the network, for the operations that the manager makes from now on;
    /// `nil`, as it is unless set: there are none.
    public var stubs: RequestStubs? {
        get { state.withLock { $0.settings.layers[.stubs] as? RequestStubs } }
        set { state.change { $0.settings.layers[.stubs] = newValue } }
    }
}
