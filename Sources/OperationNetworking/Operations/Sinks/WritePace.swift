internal import OperationNetworkingSystem

/// The time at which received bytes are written: a value.
///
/// What waits in the process is lost when it is killed, and many small calls of the system cost more than a
/// few large ones.
///
/// | What waits                                          | When it is written                            |
/// |-----------------------------------------------------|-----------------------------------------------|
/// | ``worthWriting`` bytes                              | now                                           |
/// | fewer, and for ``rest`` seconds no write was begun  | now: they come slowly                         |
/// | fewer, and a write was begun just before            | with the next, or when ``rest`` seconds are over |
/// | any, while others are being written                 | after those, at once                          |
///
/// One timer at a time looks at what waits. It is not set anew for each write: setting one costs more than a
/// small write, and a fast body is written thousands of times in a second.
struct WritePace: Hashable, Sendable {
    /// The urgency of waking the queue that writes.
    enum Urgency: Hashable, Sendable {
        case none
        /// After this number of seconds, to ask ``WritePace/timerDidFire(waiting:now:)``.
        case after(Double)
        case now
    }

    /// Bytes that are worth a call of the system.
    static let worthWriting = 192 * 1024
    /// Seconds between the beginnings of two writes of fewer bytes.
    static let rest = 0.001

    /// The queue is about to write, or is writing.
    private var isBusy = false
    /// A timer is set.
    private var isTimed = false
    private var begun: MonotonicTime?

    /// Bytes came, so that `waiting` of them wait now.
    mutating func urgency(waiting: Int, now: MonotonicTime) -> Urgency {
        if isBusy { return .none }
        let left = rest(at: now)
        if waiting >= Self.worthWriting || left <= 0 {
            begin(now)
            return .now
        }
        guard !isTimed else { return .none }
        isTimed = true
        return .after(left)
    }

    /// The timer has fired, and `waiting` bytes wait.
    mutating func timerDidFire(waiting: Int, now: MonotonicTime) -> Urgency {
        isTimed = false
        guard !isBusy, waiting > 0 else { return .none }
        let left = rest(at: now)
        guard left > 0 else {
            begin(now)
            return .now
        }
        // It was set for bytes that are written; these came after them.
        isTimed = true
        return .after(left)
    }

    /// The queue found nothing to write any more.
    mutating func didWriteAll() {
        isBusy = false
    }

    private mutating func begin(_ now: MonotonicTime) {
        isBusy = true
        begun = now
    }

    /// Seconds until fewer bytes may be written.
    private func rest(at now: MonotonicTime) -> Double {
        begun.map { $0 + Self.rest - now } ?? 0
    }
}
