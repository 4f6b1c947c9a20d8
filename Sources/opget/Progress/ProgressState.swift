/// The displayed state of a running transfer.
struct TransferState: Hashable, Sendable {
    var name: String
    var received: Int64
    /// `nil` if unknown.
    var expected: Int64?
    /// The number of bytes from an earlier run.
    var resumedAt: Int64 = 0
    /// Bytes per second.
    var speed: Double?
    /// Seconds.
    var timeLeft: Double?
    /// The seconds until it is retried; `nil` if it is running.
    var waitingTime: Double?
    var isPaused = false

    /// Whether no bytes are expected at the moment.
    var isIdle: Bool { isPaused || waitingTime != nil }

    /// Returns 0...100; 100 only if everything has been received.
    var percent: Int? { Self.percent(received, expected) }

    static func percent(_ received: Int64, _ expected: Int64?) -> Int? {
        guard let expected, expected > 0 else { return nil }
        return Int(min(1, max(0, Double(received) / Double(expected))) * 100)
    }
}

/// The displayed state of all items together.
struct BatchState: Hashable, Sendable {
    var finished: Int
    var count: Int
    var received: Int64
    /// `nil` unless it is known for every item.
    var expected: Int64?
    /// The number of received bytes that are from earlier runs.
    var recovered: Int64 = 0
    var speed: Double?
    var timeLeft: Double?
    var isPaused = false
    /// A hint for the user, shown if it fits.
    var hint: String?

    var percent: Int? { TransferState.percent(received, expected) }
}
