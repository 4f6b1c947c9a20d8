internal import OperationNetworkingSystem

/// A token bucket that may go into debt: limits bytes per second. A value.
///
/// Bytes are spent when they moved, since a piece that came cannot be taken in part; after that nothing moves
/// until they are earned back. What is not spent is kept for a twentieth of a second only, so that a pause is
/// no licence to burst.
struct RateBudget {
    /// Seconds of credit that are kept, and the time a piece of the advised size stands for.
    static let burst = 0.05

    /// Bytes per second, at least 1.
    private(set) var rate: Double
    /// In bytes; below 0 it is owed.
    private var balance = 0.0
    private var updated: MonotonicTime?

    init(rate: Int64) {
        self.rate = Double(max(1, rate))
    }

    /// Seconds until something may move; 0: now.
    mutating func wait(now: MonotonicTime) -> Double {
        earn(until: now)
        return balance > 0 || updated == nil ? 0 : (1 - balance) / rate
    }

    /// Counts bytes that moved.
    mutating func spend(_ count: Int, now: MonotonicTime) {
        earn(until: now)
        updated = now
        balance -= Double(count)
    }

    /// Goes on at another rate. What is owed is owed for no longer than at either rate: a slower one is not
    /// paid for what moved before it, and a faster one ends a wait that the slower one made.
    mutating func change(to rate: Int64, now: MonotonicTime) {
        earn(until: now)
        let new = Double(max(1, rate))
        balance *= min(1, new / self.rate)
        self.rate = new
    }

    /// The number of bytes to move at once, so that they move evenly.
    var advisedPiece: Int { max(1, Int(min(rate * Self.burst, 1_048_576))) }

    private mutating func earn(until now: MonotonicTime) {
        guard let updated else { return }
        balance = min(balance + max(0, now - updated) * rate, rate * Self.burst)
        self.updated = now
    }
}
