internal import OperationNetworkingSystem

/// A limit on the combined rate, in bytes per second, at which the transfers that share it send or receive
/// bodies.
///
/// Each operation can have its own limit, or several can share one. A change, from any thread, takes effect
/// in running transfers within a quarter of a second. A throttled transfer blocks no thread and no other
/// transfer, and does not count as idle.
///
/// ```swift
/// let night = BandwidthLimit(bytesPerSecond: 500_000)
/// for operation in backups { operation.uploadLimits = [night] }
/// night.bytesPerSecond = nil   // unlimited
/// ```
public final class BandwidthLimit: Sendable {
    /// The interval, in seconds, at which a throttled transfer checks for a changed limit.
    private static let longestWait = 0.25

    private let state: Locked<RateBudget?>

    /// - Parameter bytesPerSecond: values below 1 count as 1; `nil` means unlimited.
    public init(bytesPerSecond: Int64?) {
        state = Locked(bytesPerSecond.map { RateBudget(rate: $0) })
    }

    /// The rate. Values below 1 count as 1; `nil` means unlimited.
    public var bytesPerSecond: Int64? {
        // Values close to `Int64.max` become 2^63 as a Double.
        get { state.withLock { $0.map { Int64(exactly: $0.rate) ?? .max } } }
        set {
            let now = MonotonicTime.now
            state.withLock { budget in
                guard let newValue else { return budget = nil }
                if budget == nil { budget = RateBudget(rate: newValue) }
                budget?.change(to: newValue, now: now)
            }
        }
    }

    /// Seconds until the next check; 0 if bytes may move now.
    func wait(now: MonotonicTime) -> Double {
        let wait = state.withLock { $0?.wait(now: now) ?? 0 }
        guard wait > Self.longestWait else { return wait }
        // All transfers check at the same moments: one that checked a little earlier than the others would
        // always win.
        return Self.longestWait - now.seconds.truncatingRemainder(dividingBy: Self.longestWait)
    }

    func spend(_ count: Int, now: MonotonicTime) {
        state.withLock { $0?.spend(count, now: now) }
    }

    /// The number of bytes to move at once.
    var advisedPiece: Int { state.withLock { $0?.advisedPiece ?? .max } }
}

extension [BandwidthLimit] {
    /// Seconds until all limits allow bytes to move.
    func wait(now: MonotonicTime) -> Double {
        isEmpty ? 0 : map { $0.wait(now: now) }.max() ?? 0
    }

    func spend(_ count: Int, now: MonotonicTime) {
        for limit in self { limit.spend(count, now: now) }
    }

    /// The number of bytes to move at once.
    var advisedPiece: Int { map(\.advisedPiece).min() ?? .max }
}

/// A token bucket in bytes per second whose balance may become negative.
///
/// Bytes are charged after they moved, because a received piece cannot be accepted in part. Nothing moves
/// until a debt is earned back. At most a twentieth of a second of credit is kept, so that a pause does not
/// allow a burst.
struct RateBudget {
    /// The maximum credit, and the duration of one advised piece, in seconds.
    static let burst = 0.05

    /// Bytes per second, at least 1.
    private(set) var rate: Double
    /// In bytes; negative if bytes are owed.
    private var balance = 0.0
    private var updated: MonotonicTime?

    init(rate: Int64) {
        self.rate = Double(max(1, rate))
    }

    /// Seconds until bytes may move; 0 if they may move now.
    mutating func wait(now: MonotonicTime) -> Double {
        earn(until: now)
        return balance > 0 || updated == nil ? 0 : (1 - balance) / rate
    }

    /// Charges bytes that moved.
    mutating func spend(_ count: Int, now: MonotonicTime) {
        earn(until: now)
        updated = now
        balance -= Double(count)
    }

    /// Changes the rate. A debt is paid off no later than at either rate: a slower rate does not extend the
    /// wait for bytes that moved before, and a faster one shortens it.
    mutating func change(to rate: Int64, now: MonotonicTime) {
        earn(until: now)
        let new = Double(max(1, rate))
        balance *= min(1, new / self.rate)
        self.rate = new
    }

    /// The number of bytes to move at once for an even flow.
    var advisedPiece: Int { max(1, Int(min(rate * Self.burst, 1_048_576))) }

    private mutating func earn(until now: MonotonicTime) {
        guard let updated else { return }
        balance = min(balance + max(0, now - updated) * rate, rate * Self.burst)
        self.updated = now
    }
}
