/// The next steps of a batch of downloads: a value that decides and does nothing. Their ends are
/// counted by a ``BatchCount``.
///
/// | Phase     | Waiting members | Running members   | Left by                     |
/// |-----------|-----------------|-------------------|-----------------------------|
/// | `running` | start in order  | go on             | pausing, stopping           |
/// | `paused`  | wait            | are paused        | resuming, stopping          |
/// | `stopped` | have ended      | are cancelled     | -                           |
///
/// A member that finds no room has not ended. It goes to the end of the line (it is *late*), and begins again
/// when no other runs or waits; so the others get what they need, whatever length it is said to have.
///
/// | There was no room for                               | The member                         | The batch |
/// |-----------------------------------------------------|------------------------------------|-----------|
/// | bytes that came: the disk is full (`outOfSpace`)    | late; begins with others like it   | pauses    |
/// | the announced length (`doesNotFit`), the first time | late; begins alone                 | pauses    |
/// | the same again: nothing of the batch ran beside it  | fails with its error               | goes on   |
///
/// A full disk is a fact, and the user can make room as often as need be: a member whose bytes have filled it
/// once counts as one that found it full whenever its length does not fit. A length alone is only the
/// server's word. The user was told of it once, and could make room before ``resume()``; a member that does
/// not fit then has an end like any other that fails, or one server could keep the batch from ever ending.
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
        /// The disk is full: the member is as it was, and the batch pauses.
        case outOfSpace
        /// A download that the disk has no room for: its length, by the server's word, is more than there is
        /// room for now.
        case doesNotFit
    }

    /// The effect of an end.
    enum Effect: Hashable, Sendable {
        /// `hasFailed`: it counts as one that failed.
        case ended(hasFailed: Bool)
        /// The member waits again, behind the others. `isNews`: the batch did not pause before.
        case putBack(isNews: Bool)
    }

    private(set) var phase = Phase.running
    private var admission: HostAdmission
    /// Downloads that found no room, in this order.
    private var late: [Int] = []
    /// Downloads that did not fit once.
    private var misfits: Set<Int> = []
    /// Downloads that have filled the disk once.
    private var fillers: Set<Int> = []

    init(
        _ origins: [Origin],
        done: Set<Int> = [],
        limit: Int = .max,
        total: Int = .max
    ) {
        admission = HostAdmission(origins, done: done, limit: limit, total: total)
    }

    /// The member to start now; `nil`: none may.
    mutating func next() -> Int? {
        guard phase == .running else { return nil }
        if admission.isIdle { admitLate() }
        return admission.next()
    }

    /// Lets the first of those begin again that found no room: alone, if it did not fit.
    private mutating func admitLate() {
        guard let first = late.first else { return }
        let count = misfits.contains(first) ? 1 : late.prefix { !misfits.contains($0) }.count
        for index in late.prefix(count) { admission.takeBack(index) }
        late.removeFirst(count)
    }

    /// A member that was to start did not, since the batch was paused meanwhile.
    mutating func putBack(_ index: Int) {
        admission.putBack(index)
    }

    /// A member that was started has ended.
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

    /// Nothing is started any more.
    /// - Returns: those that waited, which have ended now.
    mutating func stop() -> [Int] {
        guard phase != .stopped else { return [] }
        phase = .stopped
        let waiting = (admission.removeAll() + late).sorted()
        late = []
        return waiting
    }
}
