import Foundation

/// A throughput meter: an exponentially weighted mean in which recent bytes count most. The time is an input,
/// in seconds of a monotonic clock.
package struct ThroughputMeter: Hashable, Sendable {
    /// The seconds after which the weight of a byte has fallen to 1/e.
    package static let memory = 3.0
    /// The minimum seconds of history before there is a speed.
    package static let shortestHistory = 0.2

    private var start: Double
    private var last: Double
    private var total: Int64
    /// Sums that decay alike: bytes, and the seconds in which they arrived.
    private var weightedBytes = 0.0
    private var weightedSeconds = 0.0

    /// Starts measuring at `now`, when `total` bytes have already been transferred.
    package init(now: Double, total: Int64 = 0) {
        start = now
        last = now
        self.total = total
    }

    /// Records that `total` bytes have been transferred until now. Fewer than before means that the transfer
    /// started over.
    package mutating func record(total newTotal: Int64, now: Double) {
        let seconds = now - last
        guard seconds > 0 else { return }
        let fading = exp(-seconds / Self.memory)
        weightedBytes = weightedBytes * fading + Double(max(0, newTotal - total))
        weightedSeconds = weightedSeconds * fading + seconds
        total = newTotal
        last = now
    }

    /// Leaves out the time until now, in which nothing could arrive.
    package mutating func skip(to now: Double) {
        start += max(0, now - last)
        last = max(last, now)
    }

    /// Bytes per second; `nil` at first.
    package var speed: Double? {
        guard last - start >= Self.shortestHistory, weightedSeconds > 0 else { return nil }
        return weightedBytes / weightedSeconds
    }

    /// The seconds until `expected` bytes have been transferred; `nil` while unknown.
    package func timeLeft(expected: Int64?) -> Double? {
        guard let expected, let speed, speed >= 1, expected >= total else { return nil }
        return Double(expected - total) / speed
    }
}
