import Dispatch

/// The clock of a run: its frames and periodic tasks. Times are seconds of a monotonic clock.
struct RunClock {
    /// The interval between frames, and between polls for keys.
    private static let frameInterval = 0.1
    /// The interval between `progress` events of an item.
    private static let eventInterval = 1.0
    /// The interval between plain lines about the batch.
    private static let summaryInterval = 60.0

    private let start: Double
    private var lastSummary: Double
    private var lastEvents: Double
    private var timer: (any DispatchSourceTimer)?

    init(now: Double) {
        start = now
        lastSummary = now
        lastEvents = now
    }

    static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    /// Calls `tick` on `queue` for each frame.
    mutating func begin(on queue: DispatchQueue, tick: @escaping @Sendable () -> Void) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + Self.frameInterval, repeating: Self.frameInterval)
        timer.setEventHandler(handler: tick)
        timer.resume()
        self.timer = timer
    }

    func end() {
        timer?.cancel()
    }

    /// Seconds since the start.
    var elapsed: Double { Self.now - start }

    /// Whether a line about the batch is due. If so, schedules the next one.
    mutating func isSummaryDue(_ now: Double) -> Bool {
        guard now - lastSummary >= Self.summaryInterval else { return false }
        lastSummary = now
        return true
    }

    /// Whether `progress` events are due. If so, schedules the next ones.
    mutating func areEventsDue(_ now: Double) -> Bool {
        guard now - lastEvents >= Self.eventInterval else { return false }
        lastEvents = now
        return true
    }
}

/// Whether a run is paused by the user's key, which pauses its transfers, or by Ctrl-Z, which stops the
/// process.
struct PauseState {
    /// By the key.
    var isPaused = false
    /// By Ctrl-Z.
    private(set) var isSuspended = false
    private var lastResume = -Double.infinity

    mutating func suspend() {
        isSuspended = true
    }

    /// Records that the process continues.
    /// - Returns: whether it was stopped by SIGSTOP, after which another process may have written below the
    ///   drawn lines. A SIGCONT shortly afterwards belongs to the preceding ``suspend()``.
    mutating func resume(now: Double) -> Bool {
        guard isSuspended else { return now - lastResume > 1 }
        isSuspended = false
        lastResume = now
        return false
    }
}
