extension TransferSettings {
    /// The answers of a test, in place of the network; `nil`, as it is unless set: requests go to the
    /// network.
    public var stubs: RequestStubs? {
        get { layers[.stubs] as? RequestStubs }
        set { layers[.stubs] = newValue }
    }
}
