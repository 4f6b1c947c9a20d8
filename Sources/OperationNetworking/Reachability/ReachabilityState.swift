import Dispatch

/// Everything about a manager that changes; it lives behind one lock.
///
/// | event                            | the sequences                | closure and notification                  |
/// |----------------------------------|------------------------------|-------------------------------------------|
/// | a sequence begins                | that one is told the status  | -                                         |
/// | a status that is new             | are told                     | are told, if it was started               |
/// | the first known one after a start | are told if it is new       | are told                                  |
/// | the same status again            | -                            | -                                         |
/// | a stop                           | go on                        | nothing any more                          |
///
/// A queue that does not keep up hears the newest status only: ``NewestValue``.
struct ReachabilityState {
    private struct Listener {
        let continuation: AsyncStream<NetworkReachabilityStatus>.Continuation
        /// Whether it has its first status.
        var isGreeted = false
    }

    private(set) var status = NetworkReachabilityStatus.unknown
    var completionQueue: DispatchQueue?
    var statusChange: (@isolated(any) @Sendable (NetworkReachabilityStatus) -> Void)?
    var monitoringError: (any Error)?
    var lookup = NameLookup()

    private(set) var isStarted = false
    /// Counts starts and stops.
    private(set) var turn = 0
    private var sequences: [Int: Listener] = [:]
    private var lastSequence = 0
    /// The statuses for closure and notification.
    var news = NewestValue<NetworkReachabilityStatus>()

    /// Whether somewhere a status is waited for.
    var isMonitoring: Bool { isStarted || !sequences.isEmpty }

    mutating func start() {
        isStarted = true
        turn += 1
        news.forget()
    }

    mutating func stop() {
        isStarted = false
        turn += 1
        news.forget()
        if !isMonitoring { lookup.stop() }
    }

    // MARK: - Sequences

    /// - Returns: its number.
    mutating func begin(_ sequence: AsyncStream<NetworkReachabilityStatus>.Continuation) -> Int {
        lastSequence += 1
        sequences[lastSequence] = Listener(continuation: sequence)
        return lastSequence
    }

    /// Tells a sequence its first status.
    mutating func greet(_ sequence: Int) {
        sequences[sequence]?.isGreeted = true
        sequences[sequence]?.continuation.yield(status)
    }

    /// - Returns: its continuation, to be released when no lock is held.
    mutating func end(_ sequence: Int) -> AsyncStream<NetworkReachabilityStatus>.Continuation? {
        defer { if !isMonitoring { lookup.stop() } }
        return sequences.removeValue(forKey: sequence)?.continuation
    }

    // MARK: - Statuses

    /// Records the status as it was found now.
    /// - Returns: whether the caller has to schedule a delivery.
    mutating func find(_ found: NetworkReachabilityStatus) -> Bool {
        let isNews = found != status
        status = found
        // A continuation runs nothing of the task's under this lock.
        if isNews {
            for sequence in sequences.values where sequence.isGreeted { sequence.continuation.yield(found) }
        }
        return isStarted && found != .unknown && news.offer(found)
    }
}
