internal import OperationNetworkingSystem

/// The state of a sink that is written on a dedicated queue. A pure value, without side effects.
///
/// The network thread reports incoming bytes; the writer requests the next step and reports its outcome.
///
/// | event                     | untouched | resting | working        | blocked        | closed      |
/// |---------------------------|-----------|---------|----------------|----------------|-------------|
/// | ``begin()``               | resting   | -       | -              | -              | -           |
/// | ``append(_:now:)``        | working   | working, or later | -    | -              | -           |
/// | ``timerDidFire(now:)``    | -         | working | -              | -              | -           |
/// | ``empty()``               | -         | working | -              | -              | -           |
/// | ``perform()``             | working   | working | -              | -              | -           |
/// | ``end()``                 | working   | working | -              | -              | -           |
/// | ``abandon(keepsRest:)``   | closed    | working | -              | -              | -           |
/// | ``dropRest()``            | -         | -       | drops the rest | drops the rest | -           |
/// | ``didFindNoRoom()``       | -         | -       | blocked        | -              | -           |
/// | ``tryAgain(_:)``          | -         | -       | -              | working        | -           |
/// | ``didFail()``             | -         | -       | drops the rest | -              | -           |
/// | ``didClose()``            | -         | -       | closed         | -              | -           |
struct SinkState: Sendable {
    enum Phase: Hashable, Sendable {
        /// No body for the destination has begun.
        case untouched
        /// All work is done.
        case resting
        /// The queue is working, or about to.
        case working
        /// There is no room now; writing has to be tried again.
        case blocked
        case closed
    }

    /// A step of the destination.
    enum Step: Hashable, Sendable {
        case open
        case empty
        /// Write this range of the in-flight bytes.
        case write(Range<Int>)
        /// Perform the owner's next task.
        case perform
        case close
        /// Do nothing until there is work again.
        case rest
    }

    /// The number of unwritten bytes at which the sink is full.
    static let capacity = 512 * 1024
    /// The number of unwritten bytes at which a full sink has room again.
    static let relief = capacity / 2
    /// The maximum number of bytes written at once.
    static let stepLimit = 128 * 1024

    private(set) var phase = Phase.untouched
    private(set) var isFull = false
    /// Whether written bytes can be taken back.
    private(set) var canBeEmptied: Bool
    /// The number of consecutive tries without room.
    private(set) var fruitlessTries = 0
    /// The number of times there was no room: an event for an earlier one does not end the current one.
    private(set) var block = 0

    private var buffer = SinkBuffer()
    private var pace = WritePace()
    private var isOpen = false
    private var hasFailed = false
    private var mustEmpty = false
    /// The number of the owner's tasks that have not been performed yet.
    private var tasks = 0
    private var hasEnded = false
    private var isAbandoned = false
    private var keepsRest = true

    /// - Parameter canBeEmptied: as far as known before the destination is open.
    init(canBeEmptied: Bool) {
        self.canBeEmptied = canBeEmptied
    }

    /// The number of bytes that were accepted and not discarded.
    var count: Int64 { buffer.count }

    /// The number of last bytes that are kept after they are written, for comparison; 0 to keep none.
    var keptCount: Int {
        get { buffer.keptCount }
        set { buffer.keptCount = newValue }
    }

    // MARK: - Events: each returns whether work has to be scheduled

    /// Notes that a body has begun. The destination is opened by the first byte or the end, so that a small
    /// body needs the queue only once.
    mutating func begin() {
        if phase == .untouched { phase = .resting }
    }

    /// Unlike the other events, returns how urgent the work is: waking the queue costs more than a small
    /// write.
    mutating func append(_ bytes: Span<UInt8>, now: MonotonicTime) -> WritePace.Urgency {
        guard !hasFailed, !hasEnded, !isAbandoned else { return .none }
        buffer.append(bytes)
        if buffer.rest >= Self.capacity { isFull = true }
        return isIdle ? act(pace.urgency(waiting: buffer.rest, now: now)) : .none
    }

    /// Handles the timer that ``append(_:now:)``, or this method, requested.
    mutating func timerDidFire(now: MonotonicTime) -> WritePace.Urgency {
        act(pace.timerDidFire(waiting: isIdle ? buffer.rest : 0, now: now))
    }

    private mutating func act(_ urgency: WritePace.Urgency) -> WritePace.Urgency {
        if urgency == .now { phase = .working }
        return urgency
    }

    /// Discards everything: queued bytes at once, written bytes in turn.
    mutating func empty() -> Bool {
        buffer.removeAll()
        isFull = false
        // Opening the destination empties it.
        mustEmpty = isOpen
        return mustEmpty && work()
    }

    /// Adds a task of the owner's, which is performed after the bytes accepted so far, and before the destination is
    /// closed.
    mutating func perform() -> Bool {
        tasks += 1
        return work()
    }

    mutating func end() -> Bool {
        hasEnded = true
        return work()
    }

    /// Abandons the rest. With `keepsRest`, queued bytes are written while there is room.
    mutating func abandon(keepsRest: Bool) -> Bool {
        isAbandoned = true
        self.keepsRest = keepsRest
        switch phase {
        case .untouched:
            phase = .closed
            return false
        case .resting:
            if !keepsRest { dropRest() }
            return work()
        case .working, .blocked:
            if !keepsRest { dropRest() }
            return false
        case .closed:
            return false
        }
    }

    private mutating func work() -> Bool {
        guard isIdle else { return false }
        phase = .working
        return true
    }

    /// Whether the queue has to be woken to do anything.
    private var isIdle: Bool {
        switch phase {
        case .untouched, .resting: true
        case .working, .blocked, .closed: false
        }
    }

    // MARK: - Steps

    /// Returns the next step. `hand` is the writer's buffer: once all of it is written, it is swapped with
    /// the queued bytes.
    mutating func next(_ hand: inout [UInt8]) -> Step {
        if hasFailed { return .close }
        if !isOpen { return isPointless ? .close : .open }
        if mustEmpty { return .empty }
        let inHand = buffer.takeUp(&hand)
        if !inHand.isEmpty { return .write(inHand.prefix(Self.stepLimit)) }
        if tasks > 0 {
            tasks -= 1
            return .perform
        }
        if hasEnded || isAbandoned { return .close }
        phase = .resting
        pace.didWriteAll()
        return .rest
    }

    /// Returns the last accepted bytes, at most `count`; `hand` is the writer's buffer.
    func lastBytes(_ count: Int, _ hand: [UInt8]) -> [UInt8] {
        buffer.lastBytes(count, hand)
    }

    /// Whether not to open the destination: the rest was abandoned, and there is nothing that could be
    /// written.
    private var isPointless: Bool {
        isAbandoned && buffer.rest == 0 && (!keepsRest || block > 0)
    }

    /// Records that the sink is open and empty.
    mutating func didOpen(canBeEmptied: Bool) {
        isOpen = true
        self.canBeEmptied = canBeEmptied
        fruitlessTries = 0
    }

    mutating func didEmpty() {
        mustEmpty = false
    }

    /// - Returns: whether the sink was full and no longer is.
    mutating func didWrite(_ written: Int) -> Bool {
        fruitlessTries = 0
        guard buffer.didWrite(written), isFull, buffer.rest <= Self.relief else { return false }
        isFull = false
        return true
    }

    /// Records that the destination accepts nothing now.
    /// - Returns: whether to try again later; `false` to continue with the next step.
    mutating func didFindNoRoom() -> Bool {
        block += 1
        guard !isAbandoned else {
            // It is unknown when there will be room, and the rest was abandoned.
            dropRest()
            return false
        }
        fruitlessTries += 1
        phase = .blocked
        return true
    }

    /// - Parameter block: the number of the block that has ended; `nil` for the current one.
    /// - Returns: whether to continue with the next step.
    mutating func tryAgain(_ block: Int?) -> Bool {
        guard phase == .blocked, block == nil || block == self.block else { return false }
        phase = .working
        return true
    }

    mutating func didFail() {
        hasFailed = true
        dropRest()
    }

    mutating func didClose() {
        phase = .closed
    }

    /// Drops queued bytes: they are not wanted any more, or took too long.
    mutating func dropRest() {
        buffer.dropRest()
        isFull = false
    }
}
