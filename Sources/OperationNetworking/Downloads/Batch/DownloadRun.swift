/// The next steps of a batch of downloads: a value without side effects. A ``BatchCount`` counts the ends.
///
/// | Phase     | Waiting members | Running members   | Ended by                    |
/// |-----------|-----------------|-------------------|-----------------------------|
/// | `running` | start in order  | continue          | pausing, stopping           |
/// | `paused`  | wait            | are paused        | resuming, stopping          |
/// | `stopped` | have ended      | are cancelled     | -                           |
///
/// A member that finds no disk space has not ended. It is *late*: it moves to the end of the queue, and begins again
/// when no other member runs or waits, so that the others get their space, whatever length the server announced.
///
/// | There was no space for                              | The member                         | The batch |
/// |-----------------------------------------------------|------------------------------------|-----------|
/// | received bytes: the disk is full (`outOfSpace`)     | late; begins with similar members  | pauses    |
/// | the announced length (`doesNotFit`), the first time | late; begins alone                 | pauses    |
/// | the same again, with no other member running        | fails with its error               | continues |
///
/// A full disk is a fact, and the user can free space as often as necessary: a member that has filled the disk once
/// keeps counting as one that found it full. An announced length is only the server's word. The user was notified once,
/// and could free space before ``resume()``. If the member still does not fit, it fails; otherwise one server could
/// keep the batch from ever ending.
struct DownloadRun: Sendable {
    enum Phase: Hashable, Sendable {
        case running
        case paused
        case stopped
    }

    /// The end of a member.
    enum End: Hashable, Sendable {
        case finished
        case failed
        case cancelled
        /// The disk is full: the received bytes are kept, and the batch pauses.
        case outOfSpace
        /// The announced length exceeds the free disk space.
        case doesNotFit
    }

    /// The effect of an end.
    enum Effect: Hashable, Sendable {
        /// The member has ended. `hasFailed`: whether it counts as failed.
        case ended(hasFailed: Bool)
        /// The member waits again, after the others. `isNews`: whether the batch was not paused before.
        case putBack(isNews: Bool)
    }

    private(set) var phase = Phase.running
    private var admission: HostAdmission
    /// The members that found no disk space, in order.
    private var late: [Int] = []
    /// The members whose length did not fit once.
    private var misfits: Set<Int> = []
    /// The members that have filled the disk once.
    private var fillers: Set<Int> = []

    init(
        _ origins: [Origin],
        done: Set<Int> = [],
        limit: Int = .max,
        total: Int = .max
    ) {
        admission = HostAdmission(origins, done: done, limit: limit, total: total)
    }

    /// Returns the member to start now; `nil` if none may start.
    mutating func next() -> Int? {
        guard phase == .running else { return nil }
        if admission.isIdle { admitLate() }
        return admission.next()
    }

    /// Restarts the first of the members that found no space: alone, if its length did not fit.
    private mutating func admitLate() {
        guard let first = late.first else { return }
        let count = misfits.contains(first) ? 1 : late.prefix { !misfits.contains($0) }.count
        for index in late.prefix(count) { admission.takeBack(index) }
        late.removeFirst(count)
    }

    /// Returns a member to the queue, because the batch was paused before it started.
    mutating func putBack(_ index: Int) {
        admission.putBack(index)
    }

    /// Records the end of a running member.
    mutating func end(_ index: Int, _ end: End) -> Effect {
        admission.leave(index)
        if phase != .stopped, isLate(index, end) {
            let isNews = phase == .running
            phase = .paused
            late.append(index)
            return .putBack(isNews: isNews)
        }
        return .ended(hasFailed: end == .failed || end == .doesNotFit)
    }

    private mutating func isLate(_ index: Int, _ end: End) -> Bool {
        switch end {
        case .finished, .failed, .cancelled: return false
        case .outOfSpace:
            fillers.insert(index)
            return true
        case .doesNotFit: return fillers.contains(index) || misfits.insert(index).inserted
        }
    }

    mutating func pause() {
        if phase == .running { phase = .paused }
    }

    mutating func resume() {
        if phase == .paused { phase = .running }
    }

    /// Stops starting members.
    /// - Returns: the waiting members, which have ended now.
    mutating func stop() -> [Int] {
        guard phase != .stopped else { return [] }
        phase = .stopped
        let waiting = (admission.removeAll() + late).sorted()
        late = []
        return waiting
    }
}
