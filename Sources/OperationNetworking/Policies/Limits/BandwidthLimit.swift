internal import OperationNetworkingSystem

/// A limit of the bytes per second that the bodies of all transfers that share it may move together.
///
/// Give each operation one of its own, or several operations the same. It can be changed while they run, from
/// any thread; they notice within a quarter of a second. A transfer that waits for its turn sleeps nowhere
/// and holds up no other, and the time does not count as idle.
///
/// ```swift
/// let night = BandwidthLimit(bytesPerSecond: 500_000)
/// for operation in backups { operation.uploadLimits = [night] }
/// night.bytesPerSecond = nil   // as fast as it goes
/// ```
public final class BandwidthLimit: Sendable {
    /// Seconds after which a transfer that waits looks again whether the limit was changed.
    private static let longestWait = 0.25

    private let state: Locked<RateBudget?>

    /// - Parameter bytesPerSecond: what is below 1 counts as 1; `nil`: no limit yet.
    public init(bytesPerSecond: Int64?) {
        state = Locked(bytesPerSecond.map { RateBudget(rate: $0) })
    }

    /// The limit; below 1 counts as 1; `nil`: as fast as it goes.
    public var bytesPerSecond: Int64? {
        // What is next to the highest is 2^63 as a Double.
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

    /// Seconds until it is worth asking again; 0: something may move now.
    func wait(now: MonotonicTime) -> Double {
        let wait = state.withLock { $0?.wait(now: now) ?? 0 }
        guard wait > Self.longestWait else { return wait }
        // All look again in the same moment: one that looked a little before the others would always be the
        // first.
        return Self.longestWait - now.seconds.truncatingRemainder(dividingBy: Self.longestWait)
    }

    func spend(_ count: Int, now: MonotonicTime) {
        state.withLock { $0?.spend(count, now: now) }
    }

    /// The number of bytes to move at once.
    var advisedPiece: Int { state.withLock { $0?.advisedPiece ?? .max } }
}

extension [BandwidthLimit] {
    /// Seconds until all of them let something move.
    func wait(now: MonotonicTime) -> Double {
        isEmpty ? 0 : map { $0.wait(now: now) }.max() ?? 0
    }

    func spend(_ count: Int, now: MonotonicTime) {
        for limit in self { limit.spend(count, now: now) }
    }

    /// The number of bytes to move at once.
    var advisedPiece: Int { map(\.advisedPiece).min() ?? .max }
}

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
