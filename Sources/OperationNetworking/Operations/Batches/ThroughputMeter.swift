import Foundation

/// A meter of throughput: an exponentially weighted mean, recent bytes counting most. It takes the time as
/// input, in seconds on a clock that never goes backwards.
package struct ThroughputMeter: Hashable, Sendable {
    /// The seconds after which a byte counts for 1/e of a new one.
    package static let memory = 3.0
    /// The seconds that have to be known before there is a speed.
    package static let shortestHistory = 0.2

    private var start: Double
    private var last: Double
    private var total: Int64
    /// Sums that fade alike: bytes, and the seconds they came in.
    private var weightedBytes = 0.0
    private var weightedSeconds = 0.0

    /// Begins to measure at `now`, when `total` bytes have come already.
    package init(now: Double, total: Int64 = 0) {
        start = now
        last = now
        self.total = total
    }

    /// Records that `total` bytes have come until now; fewer than before means that it began again.
    package mutating func record(total newTotal: Int64, now: Double) {
        let seconds = now - last
        guard seconds > 0 else { return }
        let fading = exp(-seconds / Self.memory)
        weightedBytes = weightedBytes * fading + Double(max(0, newTotal - total))
        weightedSeconds = weightedSeconds * fading + seconds
        total = newTotal
        last = now
    }

    /// Leaves out the time until now: nothing could come.
    package mutating func skip(to now: Double) {
        start += max(0, now - last)
        last = max(last, now)
    }

    /// Bytes per second; `nil` at first.
    package var speed: Double? {
        guard last - start >= Self.shortestHistory, weightedSeconds > 0 else { return nil }
        return weightedBytes / weightedSeconds
    }

    /// The seconds until `expected` bytes will have come; `nil` while that is unknown.
    package func timeLeft(expected: Int64?) -> Double? {
        guard let expected, let speed, speed >= 1, expected >= total else { return nil }
        return Double(expected - total) / speed
    }
}
