/// The connection of a transfer, as far as it has had one.
struct TransferConnection {
    private(set) var isThere = false
    /// The proxy's wish, as ``EasyHandle/proxyOffersMoreThanBasic``, before the server could say a word.
    private(set) var tunnelOffersMore: Bool?
    /// Whether it may carry other transfers at the same time.
    private(set) var isShared = false
    /// Whether it was used before, and nothing has come on it since the request was sent.
    private(set) var awaitsFirstHead = false
    /// The protocol that the server chose in the TLS handshake, or `nil`: none; the outer `nil`: there was no
    /// connection with TLS.
    private(set) var chosenProtocol: String??
    /// The bytes that connections had taken when the request was last sent: a proxy's CONNECT, perhaps.
    private var takenBefore = 0

    /// The way to the server is there for the first time, and the proxy has offered that.
    mutating func noteTunnel(_ offersMore: Bool?) {
        tunnelOffersMore = offersMore
    }

    mutating func didChoose(_ chosen: String?) {
        chosenProtocol = .some(chosen)
    }

    /// The request is sent over it; connections have taken `count` bytes before. `isKept`: it was used before.
    mutating func willSend(taken count: Int, isShared: Bool, isKept: Bool) {
        isThere = true
        self.isShared = isShared
        awaitsFirstHead = isKept && !isShared
        takenBefore = count
    }

    /// A head has come on it.
    mutating func didAnswer() {
        awaitsFirstHead = false
    }

    /// Whether no connection took a byte of the request, when connections have taken `count` altogether.
    func hasSentNothing(taken count: Int) -> Bool {
        !isThere || count == takenBefore
    }
}
