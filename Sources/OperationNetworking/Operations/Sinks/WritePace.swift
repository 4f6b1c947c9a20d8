internal import OperationNetworkingSystem

/// Decides when received bytes are written. A value.
///
/// Bytes that wait in the process are lost when it is killed, and many small system calls cost more than a
/// few large ones.
///
/// | Pending bytes                                       | Written                                     |
/// |-----------------------------------------------------|---------------------------------------------|
/// | ``worthWriting`` bytes                              | now                                         |
/// | fewer, and no write began in the last ``rest`` s    | now: they arrive slowly                     |
/// | fewer, and a write began just before                | with the next ones, or after ``rest`` s     |
/// | any, while others are being written                 | immediately after those                     |
///
/// There is one timer at a time. It is not reset for each write: setting one costs more than a small write,
/// and a fast body is written thousands of times a second.
struct WritePace: Hashable, Sendable {
    /// The urgency of waking the queue that writes.
    enum Urgency: Hashable, Sendable {
        case none
        /// After this number of seconds, call ``WritePace/timerDidFire(waiting:now:)``.
        case after(Double)
        case now
    }

    /// The number of bytes that are worth a system call.
    static let worthWriting = 192 * 1024
    /// The minimum seconds between the starts of two writes of fewer bytes.
    static let rest = 0.001

    /// Whether the queue is writing, or about to.
    private var isBusy = false
    /// Whether a timer is set.
    private var isTimed = false
    private var begun: MonotonicTime?

    /// Returns the urgency after new bytes arrived, with `waiting` bytes pending.
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

    /// Returns the urgency after the timer has fired, with `waiting` bytes pending.
    mutating func timerDidFire(waiting: Int, now: MonotonicTime) -> Urgency {
        isTimed = false
        guard !isBusy, waiting > 0 else { return .none }
        let left = rest(at: now)
        guard left > 0 else {
            begin(now)
            return .now
        }
        // The timer was set for bytes that have been written; these arrived later.
        isTimed = true
        return .after(left)
    }

    /// Records that the queue has nothing left to write.
    mutating func didWriteAll() {
        isBusy = false
    }

    private mutating func begin(_ now: MonotonicTime) {
        isBusy = true
        begun = now
    }

    /// The seconds until fewer bytes may be written.
    private func rest(at now: MonotonicTime) -> Double {
        begun.map { $0 + Self.rest - now } ?? 0
    }
}
