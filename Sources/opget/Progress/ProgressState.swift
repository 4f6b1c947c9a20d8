/// A running transfer, to be shown.
struct TransferState: Hashable, Sendable {
    var name: String
    var received: Int64
    /// `nil`: unknown.
    var expected: Int64?
    /// The number of those that an earlier run had left.
    var resumedAt: Int64 = 0
    /// Bytes per second.
    var speed: Double?
    /// Seconds.
    var timeLeft: Double?
    /// Seconds until it is tried again; `nil`: it runs.
    var waitingTime: Double?
    var isPaused = false

    /// Whether nothing comes because nothing is to come.
    var isIdle: Bool { isPaused || waitingTime != nil }

    /// 0...100, and 100 not before everything is there.
    var percent: Int? { Self.percent(received, expected) }

    static func percent(_ received: Int64, _ expected: Int64?) -> Int? {
        guard let expected, expected > 0 else { return nil }
        return Int(min(1, max(0, Double(received) / Double(expected))) * 100)
    }
}

/// All items together, to be shown.
struct BatchState: Hashable, Sendable {
    var finished: Int
    var count: Int
    var received: Int64
    /// `nil` unless that of every item is known.
    var expected: Int64?
    /// The number of received bytes that earlier runs had left.
    var recovered: Int64 = 0
    var speed: Double?
    var timeLeft: Double?
    var isPaused = false
    /// A hint for the user, shown if there is room.
    var hint: String?

    var percent: Int? { TransferState.percent(received, expected) }
}
