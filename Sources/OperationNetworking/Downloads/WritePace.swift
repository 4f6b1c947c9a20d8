internal import OperationNetworkingSystem

/// When bytes that came are written: a value.
///
/// What waits in the process is lost when it is killed, and many small calls of the system cost more than a few large ones.
///
/// | What waits                                          | When it is written                     |
/// |-----------------------------------------------------|----------------------------------------|
/// | ``worthWriting`` bytes                              | now                                    |
/// | fewer, and for ``rest`` seconds no write was begun  | now: they come slowly                  |
/// | fewer, and a write was begun just before            | with the next, or after ``longestWait`` |
/// | any, while others are being written                 | after those, at once                   |
struct WritePace: Hashable, Sendable {
    /// When the queue that writes has to be woken.
    enum Urgency: Hashable, Sendable {
        case none
        /// After ``WritePace/longestWait``.
        case soon
        case now
    }

    /// Bytes that are worth a call of the system.
    static let worthWriting = 192 * 1024
    /// Seconds between the beginnings of two writes of fewer bytes.
    static let rest = 0.001
    /// Milliseconds that bytes wait at most until they are given to the queue; its timers may be a millisecond late.
    static let longestWait = 1

    /// The queue is about to write, or is writing.
    private var isBusy = false
    /// The queue is going to look, in a moment, whether there is something to write.
    private var isTimed = false
    private var begun: MonotonicTime?

    /// Bytes came, so that `waiting` of them wait now.
    mutating func urgency(waiting: Int, now: MonotonicTime) -> Urgency {
        if isBusy { return .none }
        if waiting >= Self.worthWriting || begun.map({ now - $0 >= Self.rest }) ?? true {
            isBusy = true
            begun = now
            return .now
        }
        defer { isTimed = true }
        return isTimed ? .none : .soon
    }

    /// The queue found nothing to write any more.
    mutating func didWriteAll() {
        isBusy = false
        isTimed = false
    }
}
