extension TransferConfigurable {
    /// The answers of a test, in place of the network; `nil`, as it is unless set: requests go to the
    /// network.
    public var stubs: RequestStubs? {
        get { readTransferSettings { $0.layers[.stubs] as? RequestStubs } }
        set { changeTransferSettings { $0.layers[.stubs] = newValue } }
    }
}
