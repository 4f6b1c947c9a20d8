internal import OperationNetworkingSystem

/// The making of the network thread, and how long an operation waits for it: a value that does nothing.
///
/// The system may have no thread left, of the user or of a container, for a moment or for long. An operation
/// that starts then tries again and waits in between, on the thread that called `start()`: a queue's worker
/// or the caller's own, and no lock is held. All operations share one count of the time, so a hundred of them
/// do not wait a hundred times as long.
///
/// | The failures before this one                | The caller                                              |
/// |---------------------------------------------|---------------------------------------------------------|
/// | none, or the last was over 2 s ago          | waits 1 ms                                              |
/// | the first was less than 2 s ago             | waits once more as long, at least 1 ms, at most 250 ms  |
/// | the first was 2 s ago or more               | does not wait: the operation fails                      |
///
/// The operation that comes after that tries once, and so does each later one: the first to get the thread
/// makes it for all.
struct ThreadMaking {
    /// Seconds from the first failure until operations fail.
    static let patience = 2.0
    /// Seconds between two tries.
    private static let pauses = 0.001...0.25

    /// Whether the thread was made; it never ends.
    private(set) var isDone = false
    /// The moments of the first and the last failure, with less than `patience` between each two of them.
    private var lack: (first: MonotonicTime, last: MonotonicTime)?

    /// The thread was made.
    mutating func didMake() {
        isDone = true
        lack = nil
    }

    /// The thread could not be made.
    /// - Returns: the seconds until the next try; `nil`: it has been waited for long enough.
    mutating func didFail(now: MonotonicTime) -> Double? {
        guard let lack, now - lack.last <= Self.patience else {
            lack = (now, now)
            return Self.pauses.lowerBound
        }
        self.lack = (lack.first, now)
        let age = now - lack.first
        guard age < Self.patience else { return nil }
        return min(max(age, Self.pauses.lowerBound), Self.pauses.upperBound)
    }
}
