internal import OperationNetworkingSystem

/// The movement of a transfer's bytes: when one last moved, and what keeps them from moving. A pure value,
/// without side effects.
///
/// | A byte cannot move because                      | continues by       | is idle | is stalled |
/// |-------------------------------------------------|--------------------|---------|------------|
/// | the client's sink is full, or its answer is due | `resumeReceiving`  | no      | yes        |
/// | a download limit is exhausted                   | `resumeReceiving`  | no      | no         |
/// | the request's body has nothing yet              | `resumeSending`    | no      | yes        |
/// | the same, and the response rejects the request  | `resumeSending`    | yes     | yes        |
/// | an upload limit is exhausted                    | `resumeSending`    | no      | no         |
/// | the client has paused the transfer              | `setPaused(false)` | no      | no         |
/// | the server is silent                            | a byte             | yes     | no         |
///
/// libcurl only reports whole TLS records and header lines, and a body that it has sent may still be in the
/// socket. So a transfer that would count as idle is judged by what the kernel knows (``SocketMovement``):
///
/// | The kernel has                                         | the transfer                             |
/// |--------------------------------------------------------|------------------------------------------|
/// | received a byte within the timeout (1)                 | moved at that time                       |
/// | bytes to send, and fewer than at the last check        | moves now                                |
/// | bytes to send, and was not checked since the last move | is checked again after at most a second  |
/// | anything else                                          | is idle                                  |
///
/// (1) Later than the last move. Before the first byte, the kernel reports the time of the connection, in ticks.
///
/// Not if streams share a connection, whose bytes may belong to others.
///
/// Bytes that are not part of a body (a head, a chunk extension, trailers) could continue forever. So their
/// effect is limited:
///
/// | Bytes                                                    | the transfer                                |
/// |----------------------------------------------------------|---------------------------------------------|
/// | in the kernel, the first ones since the last move        | moved at that time                          |
/// | the first line of a head or of trailers (1)              | moves now                                   |
/// | others, in a line of a head or trailer, or in the kernel | did not move                                |
/// | in the kernel, of a partial TLS record (2)               | moved then, ``maximumRecordMoves`` times    |
/// | of a TLS handshake, also in a tunnel                     | moved then: see ``Timeouts/connect``        |
/// | the end of a final head                                  | moves now                                   |
/// | the end of an interim head                               | moves now, ``maximumInterimMoves`` times    |
///
/// (1) If it has the first bytes since the last move, or only bytes of TLS came before. (2) Which may contain
/// bytes of the body.
///
/// The kernel is only queried when the transfer would be idle, so the first bytes are noticed late, and count
/// from the time of the last ones.
struct TransferActivity {
    /// The minimum seconds between two checks of a waiting transfer.
    private static let shortestLook = 0.001
    /// The kernel's times are rounded to ticks, of at most a hundredth of a second.
    private static let kernelTick = 0.01
    /// A server that works for a long time may report that several times (RFC 9110 §15.2), but not forever.
    static let maximumInterimMoves = 8
    /// A TLS record has at most 16 KiB (RFC 8446 §5.1): the transfer waits for one of the body if 1 KiB of it
    /// arrives within each timeout.
    static let maximumRecordMoves = 16

    /// The meaning of bytes that only the kernel knows of.
    enum Octets {
        /// Part of a TLS handshake.
        case handshake
        /// Part of an incomplete TLS record, which may contain bytes of the body.
        case record
        /// Not part of the body.
        case framing
    }

    private enum Framing {
        case none
        /// Bytes that only the kernel knows of.
        case octets
        case line
    }

    /// The time at which a byte last moved.
    private var lastMove: MonotonicTime {
        didSet { unacknowledged = nil }
    }
    /// The time at which the bandwidth limits last let something move: the transfer that has waited longest
    /// goes first.
    private(set) var lastTurn: MonotonicTime
    /// The time since which no byte can move because of the client's sink or the request's body.
    private(set) var stalledSince: MonotonicTime?
    private var holdsResponse = false
    private var holdsRequest = false
    /// Whether the response has begun, and the rest of the request's body is not needed.
    private var isRefused = false
    /// Whether the client has paused the transfer: it keeps its connection, no byte moves, and no other
    /// transfer waits for it.
    private var isPaused = false
    /// Bytes of the request's body that connections have taken.
    ///
    /// Upload progress is this number without the bytes that the other side has not acknowledged
    /// (`SIOCOUTQ`): the kernel takes megabytes at once. Under TLS, and on a shared connection of HTTP/2, it
    /// lags a little.
    private var sent: Int64 = 0
    /// The number of unacknowledged bytes at the last check of the socket; `nil` if there was none since the
    /// last move.
    private var unacknowledged: Int?
    /// The kind of bytes since the last move that are not part of a body.
    private var framing = Framing.none
    private var hasReceivedLine = false
    /// Whether all bytes belong to the response, because there is no TLS.
    private let isPlain: Bool
    private var recordMoves = 0
    private var interimMoves = 0

    init(since start: MonotonicTime, isPlain: Bool = false) {
        self.isPlain = isPlain
        lastMove = start
        lastTurn = start
    }

    mutating func didMove(now: MonotonicTime) {
        lastMove = now
        framing = .none
        recordMoves = 0
    }

    /// Records a line of a head or of trailers.
    mutating func didReceiveLine(now: MonotonicTime) {
        hasReceivedLine = true
        if framing == .none || framing == .octets && !isPlain { lastMove = now }
        framing = .line
    }

    /// Records the end of an interim head.
    mutating func didReceiveInterim(now: MonotonicTime) {
        guard interimMoves < Self.maximumInterimMoves else { return }
        interimMoves += 1
        didMove(now: now)
    }

    /// - Parameter count: the number of bytes of the request's body that connections have accepted so far.
    /// - Returns: whether the number has changed.
    mutating func didSend(_ count: Int64) -> Bool {
        defer { sent = count }
        return count != sent
    }

    /// Records that the bandwidth limits let something move.
    mutating func didTakeTurn(now: MonotonicTime) {
        lastTurn = now
    }

    /// Holds the response, because the client's sink is full or a limit applies.
    mutating func holdResponse() {
        holdsResponse = true
    }

    /// Holds the request's body, which has nothing yet, or to which a limit applies.
    mutating func holdRequest() {
        holdsRequest = true
    }

    /// Records that the response does not need the rest of the request's body.
    mutating func refuse() {
        isRefused = true
    }

    /// Records that nothing moves because of the client's sink or the request's body.
    mutating func stall(now: MonotonicTime) {
        stalledSince = now
    }

    mutating func setPaused(_ isPaused: Bool, now: MonotonicTime) {
        self.isPaused = isPaused
        didMove(now: now)
    }

    /// - Returns: whether the response was held.
    mutating func releaseResponse() -> Bool {
        defer { holdsResponse = false }
        return holdsResponse
    }

    /// - Returns: whether the request's body was held.
    mutating func releaseRequest() -> Bool {
        defer { holdsRequest = false }
        return holdsRequest
    }

    /// Records that bytes move again.
    /// - Returns: whether the transfer was stalled, which has to be reported.
    mutating func resume(now: MonotonicTime) -> Bool {
        didMove(now: now)
        guard stalledSince != nil else { return false }
        stalledSince = nil
        return !isPaused
    }

    /// Returns the time of the next check for idleness, later than `now`; `nil` if the transfer has been idle
    /// for too long.
    func nextLook(after now: MonotonicTime, timeout: Double) -> MonotonicTime? {
        // No byte can move, and it is not the server's fault.
        let isHeld = holdsResponse || holdsRequest && !isRefused
        if isHeld || isPaused { return now + max(timeout, Self.shortestLook) }
        // Compared with the rounded sum that was scheduled: `now - lastMove` is rounded differently.
        let deadline = lastMove + timeout
        return deadline > now ? deadline : nil
    }

    /// Whether a head, a chunk extension or trailers have begun and not ended. Before the first line of a
    /// head such bytes may also belong to TLS, for example a session ticket.
    var isInsideFraming: Bool { framing != .none && (hasReceivedLine || isPlain) }

    /// Returns the time of the next check for a transfer that would be idle, by what the kernel knows.
    /// `octets` is the kind of bytes that the kernel has received last.
    mutating func nextLook(
        after now: MonotonicTime,
        timeout: Double,
        by movement: SocketMovement,
        of octets: Octets = .framing
    ) -> MonotonicTime? {
        if let seconds = movement.secondsSinceReceived, seconds < timeout {
            let received = MonotonicTime(seconds: now.seconds - seconds)
            if received > lastMove + Self.kernelTick, countsAsMove(octets) {
                lastMove = received
                if let look = nextLook(after: now, timeout: timeout) { return look }
            }
        }
        guard movement.unacknowledged > 0 else { return nil }
        defer { unacknowledged = movement.unacknowledged }
        guard let before = unacknowledged else { return now + max(Self.shortestLook, min(1, timeout)) }
        guard movement.unacknowledged < before else { return nil }
        didMove(now: now)
        return nextLook(after: now, timeout: timeout)
    }

    private mutating func countsAsMove(_ octets: Octets) -> Bool {
        switch octets {
        case .handshake:
            return true
        case .record where recordMoves < Self.maximumRecordMoves:
            recordMoves += 1
            return true
        case .record, .framing:
            guard framing == .none else { return false }
            framing = .octets
            return true
        }
    }
}
