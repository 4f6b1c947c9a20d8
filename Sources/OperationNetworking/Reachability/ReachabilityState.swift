import Dispatch

/// The mutable state of a manager, behind one lock.
///
/// | Event                                 | Sequences                | Closure and notification       |
/// |---------------------------------------|--------------------------|--------------------------------|
/// | a sequence begins                     | that one gets the status | -                              |
/// | a new status                          | get it                   | get it, if the manager started |
/// | the first known status after a start  | get it, if it is new     | get it                         |
/// | the same status again                 | -                        | -                              |
/// | a stop                                | continue                 | end                            |
///
/// A queue that does not keep up gets the newest status only: ``NewestValue``.
struct ReachabilityState {
    private struct Observer {
        let continuation: AsyncStream<NetworkReachabilityStatus>.Continuation
        var hasFirstStatus = false
    }

    private(set) var status = NetworkReachabilityStatus.unknown
    var completionQueue: DispatchQueue?
    var statusChange: (@isolated(any) @Sendable (NetworkReachabilityStatus) -> Void)?
    var monitoringError: (any Error)?
    var lookup = NameLookup()

    private(set) var isStarted = false
    /// The number of starts and stops.
    private(set) var turn = 0
    private var sequences: [Int: Observer] = [:]
    private var lastSequence = 0
    /// The statuses for the closure and the notification.
    var pending = NewestValue<NetworkReachabilityStatus>()

    /// Whether anyone waits for a status.
    var isMonitoring: Bool { isStarted || !sequences.isEmpty }

    mutating func start() {
        isStarted = true
        turn += 1
        pending.forget()
    }

    mutating func stop() {
        isStarted = false
        turn += 1
        pending.forget()
        if !isMonitoring { lookup.stop() }
    }

    // MARK: - Sequences

    /// - Returns: the number of the sequence.
    mutating func begin(_ sequence: AsyncStream<NetworkReachabilityStatus>.Continuation) -> Int {
        lastSequence += 1
        sequences[lastSequence] = Observer(continuation: sequence)
        return lastSequence
    }

    /// Delivers the first status to a sequence.
    mutating func deliverFirstStatus(to sequence: Int) {
        sequences[sequence]?.hasFirstStatus = true
        sequences[sequence]?.continuation.yield(status)
    }

    /// - Returns: its continuation. The caller must release it while it holds no lock.
    mutating func end(_ sequence: Int) -> AsyncStream<NetworkReachabilityStatus>.Continuation? {
        defer { if !isMonitoring { lookup.stop() } }
        return sequences.removeValue(forKey: sequence)?.continuation
    }

    // MARK: - Statuses

    /// Records the current status.
    /// - Returns: whether the caller has to schedule a delivery.
    mutating func find(_ found: NetworkReachabilityStatus) -> Bool {
        let isNew = found != status
        status = found
        // A continuation runs no code of the task under this lock.
        if isNew {
            for sequence in sequences.values where sequence.hasFirstStatus {
                sequence.continuation.yield(found)
            }
        }
        return isStarted && found != .unknown && pending.offer(found)
    }
}
