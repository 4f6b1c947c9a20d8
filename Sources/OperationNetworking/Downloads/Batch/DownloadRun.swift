/// What a batch of downloads does next: a value that counts and does nothing.
///
/// | Phase     | Waiting members | Running members   | Left by                     |
/// |-----------|-----------------|-------------------|-----------------------------|
/// | `running` | start in order  | go on             | pausing, stopping           |
/// | `paused`  | wait            | are paused        | resuming, stopping          |
/// | `stopped` | have ended      | are cancelled     | -                           |
struct DownloadRun: Sendable {
    enum Phase: Hashable, Sendable {
        case running
        case paused
        case stopped
    }

    /// How a member ended.
    enum End: Hashable, Sendable {
        case finished
        case failed
        case cancelled
        /// There is no room on the disk: the member is as it was, and the batch pauses.
        case outOfSpace
    }

    /// What follows from an end.
    enum Effect: Hashable, Sendable {
        case ended
        /// The member waits again. `isNews`: the batch did not pause before.
        case putBack(isNews: Bool)
        /// The batch stops: these, which waited, end as well, as cancelled ones.
        case stopped([Int])
    }

    private(set) var phase = Phase.running
    /// How many have no end yet.
    private(set) var remaining: Int
    private var admission: HostAdmission
    private let policy: BatchPolicy

    init(
        _ origins: [Origin],
        done: Set<Int> = [],
        policy: BatchPolicy = .collectAll,
        limit: Int = .max,
        total: Int = .max
    ) {
        self.policy = policy
        remaining = origins.count - done.count
        admission = HostAdmission(origins, done: done, limit: limit, total: total)
    }

    var isComplete: Bool { remaining == 0 }

    /// The member to start now; `nil`: none may.
    mutating func next() -> Int? {
        phase == .running ? admission.next() : nil
    }

    /// A member that was to start did not, since the batch was paused meanwhile.
    mutating func putBack(_ index: Int) {
        admission.putBack(index)
    }

    /// A member that was started has ended.
    mutating func end(_ index: Int, _ end: End) -> Effect {
        if end == .outOfSpace, phase != .stopped {
            let isNews = phase == .running
            phase = .paused
            admission.putBack(index)
            return .putBack(isNews: isNews)
        }
        admission.leave(index)
        remaining -= 1
        guard end == .failed, policy == .stopAtFirstFailure, phase != .stopped else { return .ended }
        return .stopped(stop())
    }

    mutating func pause() {
        if phase == .running { phase = .paused }
    }

    mutating func resume() {
        if phase == .paused { phase = .running }
    }

    /// Nothing is started any more.
    /// - Returns: those that waited, which have ended now.
    mutating func stop() -> [Int] {
        guard phase != .stopped else { return [] }
        phase = .stopped
        let waiting = admission.removeAll()
        remaining -= waiting.count
        return waiting
    }
}
