/// What a batch of downloads does next: a value that counts and does nothing.
///
/// | Phase     | Waiting members | Running members   | Left by                     |
/// |-----------|-----------------|-------------------|-----------------------------|
/// | `running` | start in order  | go on             | pausing, stopping           |
/// | `paused`  | wait            | are paused        | resuming, stopping          |
/// | `stopped` | have ended      | are cancelled     | -                           |
///
/// A member that found no room on the disk goes to the end of the line: it begins again when all have ended that found no
/// room less often. So the others get what they need, whatever length one of them is said to have.
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
        /// The member waits again, behind the others. `isNews`: the batch did not pause before.
        case putBack(isNews: Bool)
        /// The batch stops: these, which waited, end as well, as cancelled ones.
        case stopped([Int])
    }

    private(set) var phase = Phase.running
    /// How many have no end yet.
    private(set) var remaining: Int
    private var admission: HostAdmission
    /// Those that found no room, in this order, and how often each has.
    private var late: [Int] = []
    private var lacks: [Int: Int] = [:]
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
        guard phase == .running else { return nil }
        if admission.isIdle { admitLate() }
        return admission.next()
    }

    /// Lets those begin again that found no room least often.
    private mutating func admitLate() {
        guard let least = late.map({ lacks[$0, default: 0] }).min() else { return }
        for index in late where lacks[index, default: 0] == least { admission.takeBack(index) }
        late.removeAll { lacks[$0, default: 0] == least }
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
            admission.leave(index)
            late.append(index)
            lacks[index, default: 0] += 1
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
        let waiting = (admission.removeAll() + late).sorted()
        late = []
        remaining -= waiting.count
        return waiting
    }
}
