/// An observer that counts the operations that run. Besides events it is told of an operation that runs
/// already when it is added, and of removals, so that it never waits for an end that it does not hear of.
protocol RunCounter: OperationObserver {
    /// Ends the count of an operation that does not tell this any more.
    func reconsider(_ operation: ConnectionOperation)

    /// The same for each operation that is counted.
    func reconsiderAll()
}
