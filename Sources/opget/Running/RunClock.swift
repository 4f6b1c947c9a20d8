import Dispatch

/// The clock of a run: its frames, and what is due from time to time. Times are seconds of a monotonic clock.
struct RunClock {
    /// Between two frames, and two looks for keys: ten a second.
    private static let frameInterval = 0.1
    /// Between two `progress` events of an item.
    private static let eventInterval = 1.0
    /// Between two plain lines about the batch.
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

    /// Whether a line about the batch is due; the next one then is an interval later.
    mutating func isSummaryDue(_ now: Double) -> Bool {
        guard now - lastSummary >= Self.summaryInterval else { return false }
        lastSummary = now
        return true
    }

    /// Whether `progress` events are due; the next ones then are an interval later.
    mutating func areEventsDue(_ now: Double) -> Bool {
        guard now - lastEvents >= Self.eventInterval else { return false }
        lastEvents = now
        return true
    }
}

/// The halts of a run: by the user's key, which pauses its transfers, and by Ctrl-Z, which stops the process.
struct PauseState {
    /// By the key.
    var isPaused = false
    /// By Ctrl-Z.
    private(set) var isSuspended = false
    private var lastResume = -Double.infinity

    mutating func suspend() {
        isSuspended = true
    }

    /// The process goes on.
    /// - Returns: whether it was stopped by SIGSTOP: the process that had the terminal meanwhile has written
    ///   below what was drawn. A SIGCONT that comes at once is the one that ``suspend()`` was followed by.
    mutating func resume(now: Double) -> Bool {
        guard isSuspended else { return now - lastResume > 1 }
        isSuspended = false
        lastResume = now
        return false
    }
}
