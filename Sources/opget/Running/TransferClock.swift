import OperationNetworking

/// The duration of a transfer without pauses, and its speed. Times are seconds of a monotonic clock.
struct TransferClock {
    private(set) var meter: ThroughputMeter
    private var start: Double
    private var pausedSince: Double?
    /// Whether the transfer was running before the last pause.
    private(set) var hasRun = true

    init(now: Double) {
        start = now
        meter = ThroughputMeter(now: now)
    }

    var isPaused: Bool { pausedSince != nil }

    /// - Returns: false if it was already paused.
    mutating func pause(now: Double, hasRun: Bool = true) -> Bool {
        guard pausedSince == nil else { return false }
        pausedSince = now
        self.hasRun = hasRun
        return true
    }

    /// - Returns: false if it was not paused.
    mutating func resume(now: Double) -> Bool {
        guard let since = pausedSince else { return false }
        pausedSince = nil
        start += now - since
        meter.skip(to: now)
        return true
    }

    /// The duration without pauses, in seconds.
    func seconds(now: Double) -> Double {
        max((pausedSince ?? now) - start, 0)
    }

    /// Excludes the time since the last measurement from the speed.
    mutating func skip(to now: Double) {
        meter.skip(to: now)
    }

    /// Begins at `total` bytes, which do not count for the speed.
    mutating func begin(at total: Int64, now: Double) {
        meter = ThroughputMeter(now: now, total: total)
    }

    /// Records that `total` bytes have been received.
    mutating func record(total: Int64, now: Double) {
        if isPaused { meter.skip(to: now) }
        meter.record(total: total, now: now)
    }
}
