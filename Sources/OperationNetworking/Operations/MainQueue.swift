import Dispatch

/// The main queue, recognized by a mark: after `dispatchMain()` it is served by other threads than the
/// main one.
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the object stands for it: Foundation makes one each time that it is asked.
    static func isItself(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: mark) == true }

    /// Whether this thread serves the main queue now.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }
}

extension DispatchQueue {
    /// Whether both stand for one queue.
    func isSame(as other: DispatchQueue) -> Bool {
        self === other || (MainQueue.isItself(self) && MainQueue.isItself(other))
    }
}

/// An observer that counts the operations that run. Besides events it is told of an operation that runs
/// already when it is added, and of removals, so that it never waits for an end that it does not hear of.
protocol RunCounter: OperationObserver {
    /// Ends the count of an operation that does not tell this any more.
    func reconsider(_ operation: ConnectionOperation)

    /// The same for each operation that is counted.
    func reconsiderAll()
}
