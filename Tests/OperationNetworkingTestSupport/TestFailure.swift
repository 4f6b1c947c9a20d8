struct TestFailure: Error, Equatable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
