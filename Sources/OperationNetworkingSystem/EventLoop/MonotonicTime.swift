import Glibc

/// Seconds on a monotonic clock with an arbitrary origin (clock_gettime(2), `CLOCK_MONOTONIC`).
package struct MonotonicTime: Comparable, Hashable, Sendable {
    package let seconds: Double

    package init(seconds: Double) {
        self.seconds = seconds
    }

    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.seconds < right.seconds
    }

    package static func + (time: MonotonicTime, seconds: Double) -> MonotonicTime {
        MonotonicTime(seconds: time.seconds + seconds)
    }

    package static func - (left: MonotonicTime, right: MonotonicTime) -> Double {
        left.seconds - right.seconds
    }
}
