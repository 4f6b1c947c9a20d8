internal import OperationNetworkingSystem

/// The next step of a sink that is written on a queue of its own: a value that decides and does nothing.
///
/// The network thread tells it what comes; the writer asks for the next step and tells how it went.
///
/// | event                     | untouched | resting | working        | blocked        | closed      |
/// |---------------------------|-----------|---------|----------------|----------------|-------------|
/// | ``begin()``               | resting   | -       | -              | -              | -           |
/// | ``append(_:now:)``        | working   | working, or later | -    | -              | -           |
/// | ``timerDidFire(now:)``    | -         | working | -              | -              | -           |
/// | ``empty()``               | -         | working | -              | -              | -           |
/// | ``end()``                 | working   | working | -              | -              | -           |
/// | ``abandon(keepsRest:)``   | closed    | working | -              | -              | -           |
/// | ``giveUp()``              | -         | -       | drops the rest | drops the rest | -           |
/// | ``didFindNoRoom()``       | -         | -       | blocked        | -              | -           |
/// | ``tryAgain(_:)``          | -         | -       | -              | working        | -           |
/// | ``didFail()``             | -         | -       | drops the rest | -              | -           |
/// | ``didClose()``            | -         | -       | closed         | -              | -           |
struct SinkState: Sendable {
    enum Phase: Hashable, Sendable {
        /// Nothing that belongs there has begun.
        case untouched
        /// Everything there was to do is done.
        case resting
        /// The queue is at it, or about to be.
        case working
        /// There is no room now; it has to be tried again.
        case blocked
        case closed
    }

    /// A step of the destination.
    enum Step: Hashable, Sendable {
        case open
        case empty
        /// Write these of the bytes in hand.
        case write(Range<Int>)
        case close
        /// Nothing, until there is work again.
        case rest
    }

    /// Bytes that may wait to be written before the sink is full.
    static let capacity = 512 * 1024
    /// Bytes that still wait when a full one has room again.
    static let relief = capacity / 2
    /// Bytes that are written at once.
    static let stepLimit = 128 * 1024

    private(set) var phase = Phase.untouched
    private(set) var isFull = false
    /// Whether what was written can be taken back.
    private(set) var canBeEmptied: Bool
    /// The number of tries in a row without room.
    private(set) var fruitlessTries = 0
    /// Counts the times there was no room: what was to end an earlier one does not end this one.
    private(set) var block = 0

    private var buffer = SinkBuffer()
    private var pace = WritePace()
    private var isOpen = false
    private var hasFailed = false
    private var mustEmpty = false
    private var hasEnded = false
    private var isAbandoned = false
    private var keepsRest = true

    /// - Parameter canBeEmptied: as far as it is known before the destination is open.
    init(canBeEmptied: Bool) {
        self.canBeEmptied = canBeEmptied
    }

    /// Bytes that were taken and not thrown away.
    var count: Int64 { buffer.count }

    /// The number of last bytes that are kept when they are written, so that they can be compared; 0: none.
    var keptCount: Int {
        get { buffer.keptCount }
        set { buffer.keptCount = newValue }
    }

    // MARK: - Events: each returns whether work has to be scheduled

    /// The first byte opens it, or the end: a small body then makes only one errand.
    mutating func begin() {
        if phase == .untouched { phase = .resting }
    }

    /// Unlike the others it tells how urgent that is: waking the queue costs more than a small write.
    mutating func append(_ bytes: Span<UInt8>, now: MonotonicTime) -> WritePace.Urgency {
        guard !hasFailed, !hasEnded, !isAbandoned else { return .none }
        buffer.append(bytes)
        if buffer.rest >= Self.capacity { isFull = true }
        return isIdle ? act(pace.urgency(waiting: buffer.rest, now: now)) : .none
    }

    /// The timer has fired that ``append(_:now:)``, or this, has asked for.
    mutating func timerDidFire(now: MonotonicTime) -> WritePace.Urgency {
        act(pace.timerDidFire(waiting: isIdle ? buffer.rest : 0, now: now))
    }

    private mutating func act(_ urgency: WritePace.Urgency) -> WritePace.Urgency {
        if urgency == .now { phase = .working }
        return urgency
    }

    /// Throws away everything: what waits at once, what was written when its turn comes.
    mutating func empty() -> Bool {
        buffer.removeAll()
        isFull = false
        // Opening it empties it.
        mustEmpty = isOpen
        return mustEmpty && work()
    }

    mutating func end() -> Bool {
        hasEnded = true
        return work()
    }

    /// Gives the rest up. With `keepsRest`, what waits is written as long as there is room.
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

    /// Drops what waits: its time is up.
    mutating func giveUp() {
        dropRest()
    }

    private mutating func work() -> Bool {
        guard isIdle else { return false }
        phase = .working
        return true
    }

    /// Whether the queue has to be woken before it does anything.
    private var isIdle: Bool {
        switch phase {
        case .untouched, .resting: true
        case .working, .blocked, .closed: false
        }
    }

    // MARK: - Steps

    /// The next step. `hand` is the buffer of the writer: it changes places with the bytes that wait when all
    /// in it is written.
    mutating func next(_ hand: inout [UInt8]) -> Step {
        if hasFailed { return .close }
        if !isOpen { return isPointless ? .close : .open }
        if mustEmpty { return .empty }
        let inHand = buffer.takeUp(&hand)
        if !inHand.isEmpty { return .write(inHand.prefix(Self.stepLimit)) }
        if hasEnded || isAbandoned { return .close }
        phase = .resting
        pace.didWriteAll()
        return .rest
    }

    /// The last bytes that were taken, at most `count`; `hand` is the buffer of the writer.
    func lastBytes(_ count: Int, _ hand: [UInt8]) -> [UInt8] {
        buffer.lastBytes(count, hand)
    }

    /// Whether to leave it alone: the rest was given up, and nothing is to be written that could be.
    private var isPointless: Bool {
        isAbandoned && buffer.rest == 0 && (!keepsRest || block > 0)
    }

    /// The sink is open, and empty.
    mutating func didOpen(canBeEmptied: Bool) {
        isOpen = true
        self.canBeEmptied = canBeEmptied
        fruitlessTries = 0
    }

    mutating func didEmpty() {
        mustEmpty = false
    }

    /// - Returns: whether it was full, and is not any more.
    mutating func didWrite(_ written: Int) -> Bool {
        fruitlessTries = 0
        guard buffer.didWrite(written), isFull, buffer.rest <= Self.relief else { return false }
        isFull = false
        return true
    }

    /// The destination takes nothing now.
    /// - Returns: whether to try again later; `false`: go on with the next step.
    mutating func didFindNoRoom() -> Bool {
        block += 1
        guard !isAbandoned else {
            // The time of room is unknown, and the rest was given up.
            dropRest()
            return false
        }
        fruitlessTries += 1
        phase = .blocked
        return true
    }

    /// - Parameter block: which time that there was no room is over; `nil`: whichever it is.
    /// - Returns: whether to go on with the next step.
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

    private mutating func dropRest() {
        buffer.dropRest()
        isFull = false
    }
}
