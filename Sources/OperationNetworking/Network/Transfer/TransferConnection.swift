/// The connection of a transfer, if it has one.
struct TransferConnection {
    private(set) var isThere = false
    /// The proxy's offer, as ``EasyHandle/proxyOffersMoreThanBasic``, before the server could send anything.
    private(set) var tunnelOffersMore: Bool?
    /// Whether the connection may carry other transfers at the same time.
    private(set) var isShared = false
    /// Whether the connection was reused, and nothing has arrived on it since the request was sent.
    private(set) var awaitsFirstHead = false
    /// The protocol that the server chose in the TLS handshake; an inner `nil` means none, and an outer `nil`
    /// no TLS connection.
    private(set) var chosenProtocol: String??
    /// The number of bytes that connections had accepted when the request was last sent, such as a CONNECT to
    /// a proxy.
    private var takenBefore = 0

    /// Records the proxy's offer when the tunnel to the server is first open.
    mutating func noteTunnel(_ offersMore: Bool?) {
        tunnelOffersMore = offersMore
    }

    mutating func didChoose(_ chosen: String?) {
        chosenProtocol = .some(chosen)
    }

    /// Records that the request is sent over the connection, after connections have accepted `count` bytes.
    /// `isKept` says whether the connection is reused.
    mutating func willSend(taken count: Int, isShared: Bool, isKept: Bool) {
        isThere = true
        self.isShared = isShared
        awaitsFirstHead = isKept && !isShared
        takenBefore = count
    }

    /// Records that a head has arrived.
    mutating func didAnswer() {
        awaitsFirstHead = false
    }

    /// Whether no connection has accepted a byte of the request, given that connections have accepted `count`
    /// in total.
    func hasSentNothing(taken count: Int) -> Bool {
        !isThere || count == takenBefore
    }
}
