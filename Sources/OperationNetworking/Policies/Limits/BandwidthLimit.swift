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
