internal import OperationNetworkingSystem

/// The movement of a transfer's bytes: when one last moved, and what keeps them from moving. A value that
/// decides and does nothing.
///
/// | A byte cannot move since                        | goes on by         | counts as idle | counts as stalled |
/// |-------------------------------------------------|--------------------|----------------|-------------------|
/// | the client's sink is full, or its answer is due | `resumeReceiving`  | no             | yes               |
/// | a limit of downloads has nothing left           | `resumeReceiving`  | no             | no                |
/// | the request's body has nothing yet              | `resumeSending`    | no             | yes               |
/// | the same, and the response refuses the request  | `resumeSending`    | yes            | yes               |
/// | a limit of uploads has nothing left             | `resumeSending`    | no             | no                |
/// | the client paused the transfer               | `setPaused(false)`  | no             | no                |
/// | the server is silent                            | a byte             | yes            | no                |
///
/// libcurl tells of whole TLS records and header lines only, and a body that it has sent may still be in the
/// socket. So a transfer that would count as idle is judged by what the kernel knows (``SocketMovement``):
///
/// | The kernel has                                        | the transfer                                     |
/// |-------------------------------------------------------|--------------------------------------------------|
/// | received a byte within the timeout                    | moved then                                       |
/// | bytes to send, and fewer than at the look before      | moves now                                        |
/// | bytes to send, and there was no look since the last move | is looked at once more, after a second at most |
/// | anything else                                         | is idle                                          |
///
/// Not where streams share a connection, whose bytes may be those of others.
///
/// Octets that are no byte of a body (a head, the extension of a chunk, trailers) could go on for ever. So
/// what they do is limited:
///
/// | Octets                                                     | the transfer                                  |
/// |------------------------------------------------------------|-----------------------------------------------|
/// | in the kernel, the first ones since the last move          | moved then                                    |
/// | the first line of a head or of trailers, the first octets; behind those of TLS, too | moves now            |
/// | others, in a line of a head or trailer, or in the kernel   | did not move                                  |
/// | in the kernel, of a part of a TLS record that may be of the body | moved then, ``maximumRecordMoves`` times |
/// | of a TLS handshake, also in a tunnel                       | moved then: see ``Timeouts/connect``            |
/// | the end of a final head                                    | moves now                                     |
/// | the end of an interim head                                 | moves now, ``maximumInterimMoves`` times      |
///
/// The kernel is asked only when the transfer would be idle, so that the first octets are known late, and
/// count from the time of the last ones.
struct TransferActivity {
    /// Seconds from one look at a transfer that waits to the next, at least.
    private static let shortestLook = 0.001
    /// A server that works for long may say so some times (RFC 9110 §15.2), and not for ever.
    static let maximumInterimMoves = 8
    /// A TLS record has 16 KiB at most (RFC 8446 §5.1): one of the body is waited for if 1 KiB of it comes
    /// within each timeout.
    static let maximumRecordMoves = 16

    /// The meaning of octets of which only the kernel knows.
    enum Octets {
        /// Of a TLS handshake.
        case handshake
        /// Of a TLS record that is not whole, and may have bytes of the body.
        case record
        /// No byte of the body.
        case framing
    }

    private enum Framing {
        case none
        /// Only the kernel knows of them.
        case octets
        case line
    }

    /// The time at which a byte last moved.
    private var lastMove: MonotonicTime {
        didSet { unacknowledged = nil }
    }
    /// The time at which its limits last let something move: the one that waited longest goes first.
    private(set) var lastTurn: MonotonicTime
    /// The time since when no byte can move because of the client's sink, or of the request's body.
    private(set) var stalledSince: MonotonicTime?
    private var holdsResponse = false
    private var holdsRequest = false
    /// Whether the response has begun, and says that the rest of the request's body is of no use.
    private var isRefused = false
    /// Whether its client has put it aside: it keeps its connection, nothing of it moves, and no other shall
    /// wait for it.
    private var isPaused = false
    /// Bytes of the request's body that connections have taken.
    ///
    /// Upload progress is this number without the bytes that the other side has not acknowledged
    /// (`SIOCOUTQ`): the kernel takes megabytes at once. Under TLS, and on a shared connection of HTTP/2, it
    /// lags a little.
    private var sent: Int64 = 0
    /// Bytes that were not acknowledged at the last look at the socket; `nil`: there was none since something
    /// moved.
    private var unacknowledged: Int?
    /// The octets since the last move that are no byte of a body.
    private var framing = Framing.none
    private var hasReceivedLine = false
    /// Whether all octets are of the answer: there is no TLS.
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

    /// A line of a head, or of trailers, has come.
    mutating func didReceiveLine(now: MonotonicTime) {
        hasReceivedLine = true
        if framing == .none || framing == .octets && !isPlain { lastMove = now }
        framing = .line
    }

    /// An interim head has ended.
    mutating func didReceiveInterim(now: MonotonicTime) {
        guard interimMoves < Self.maximumInterimMoves else { return }
        interimMoves += 1
        didMove(now: now)
    }

    /// - Parameter count: the bytes of the request's body that connections have taken so far.
    /// - Returns: whether they are others than before.
    mutating func didSend(_ count: Int64) -> Bool {
        defer { sent = count }
        return count != sent
    }

    /// The limits let something move.
    mutating func didTakeTurn(now: MonotonicTime) {
        lastTurn = now
    }

    /// The client's sink is full, or a limit holds the transfer.
    mutating func holdResponse() {
        holdsResponse = true
    }

    /// The request's body has nothing yet, or a limit holds it.
    mutating func holdRequest() {
        holdsRequest = true
    }

    /// The response needs nothing more of the request's body.
    mutating func refuse() {
        isRefused = true
    }

    /// Nothing moves because of the client's sink, or of the request's body.
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

    /// Bytes move again.
    /// - Returns: whether the transfer was stalled, and others have to know.
    mutating func goOn(now: MonotonicTime) -> Bool {
        didMove(now: now)
        guard stalledSince != nil else { return false }
        stalledSince = nil
        return !isPaused
    }

    /// The time of the next look for idleness, later than `now`; `nil`: it has been idle for too long.
    func nextLook(after now: MonotonicTime, timeout: Double) -> MonotonicTime? {
        // No byte can move, and it is not the server's fault.
        let isHeld = holdsResponse || holdsRequest && !isRefused
        if isHeld || isPaused { return now + max(timeout, Self.shortestLook) }
        // Compared with the rounded sum that was entered: `now - lastMove` is rounded otherwise.
        let deadline = lastMove + timeout
        return deadline > now ? deadline : nil
    }

    /// Whether a head, an extension or trailers have begun and not ended. Before the first line of a head
    /// such octets may also be those of TLS, as a session ticket.
    var isInsideFraming: Bool { framing != .none && (hasReceivedLine || isPlain) }

    /// The same for a transfer that would be idle, by what the kernel knows. `octets`: those that it has
    /// received last.
    mutating func nextLook(
        after now: MonotonicTime,
        timeout: Double,
        by movement: SocketMovement,
        of octets: Octets = .framing
    ) -> MonotonicTime? {
        if let seconds = movement.secondsSinceReceived, seconds < timeout, countsAsMove(octets) {
            lastMove = max(lastMove, MonotonicTime(seconds: now.seconds - seconds))
            if let look = nextLook(after: now, timeout: timeout) { return look }
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
