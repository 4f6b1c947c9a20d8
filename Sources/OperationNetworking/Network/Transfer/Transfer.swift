import Foundation
internal import OperationNetworkingSystem

/// One transfer in progress: turns what libcurl says into heads, bytes and an end that has been checked.
///
/// Used on the network thread; libcurl calls it while ``Transfers`` drives.
final class Transfer: EasyHandleDelegate {
    /// Seconds from one look at a transfer that waits to the next, at least.
    private static let shortestLook = 0.001
    /// The limit of libcurl's answers to challenges in one transfer; its schemes need one or two.
    private static let maximumAnswers = 8

    let id: TransferID
    let request: TransferRequest
    let client: any TransferClient
    let easy: EasyHandle
    /// The time at which a byte last moved.
    var lastActivity: MonotonicTime
    /// The time at which its limits last let something move: the one that waited longest goes first.
    private(set) var lastTurn: MonotonicTime
    /// The client's sink is full, or a limit holds the transfer.
    private var isHeld = false
    /// Whether its client has answered the head with ``HeadAnswer/later``, and not said more.
    var awaitsAnswer = false
    /// Whether its client has put it aside: it keeps its connection, nothing of it moves, and no other shall
    /// wait for it.
    var isPutAside = false { didSet { lastActivity = clock.now } }
    /// The time since when no byte can move because of the client's sink, or of the request's body.
    private(set) var stalledSince: MonotonicTime?
    /// The stream that the request's body comes from has nothing yet.
    private var waitsForBody = false
    /// The request's body waits until the proxy has seen the head.
    private var holdsBody: Bool

    let clock: PassClock
    let spent: TransferMetrics
    private let demand: ProxyDemand
    private let bodyIsReady: @Sendable () -> Void
    private unowned let delegate: any TransferDelegate
    private(set) var reader = ResponseHeadReader()
    private(set) var head: ResponseHead?
    /// A head that libcurl may answer by itself, so that the client need not hear of it; see
    /// ``mayBeAnswered(_:)``.
    private(set) var heldHead: ResponseHead?
    private var answerCount = 0
    /// From the head of the response on.
    private(set) var incoming: IncomingBody?
    private var body: RequestBodyReader?
    private var cookiePrefixes = CookiePrefix()
    /// Judges the server; `nil` without TLS.
    private let examination: ServerExamination?
    private var watchesForCloseNotify = false
    var unseen: UnseenBytes
    private(set) var hasConnection = false
    /// The protocol that the server chose in the TLS handshake, or `nil`: none; the outer `nil`: there was no
    /// connection with TLS.
    private(set) var chosenProtocol: String??
    /// The proxy answered 407. libcurl asks again if it has credentials for it; else the transfer ends there:
    /// the answer is not the server's.
    private(set) var isRefusedByProxy = false
    /// The bytes that connections had taken when the request was last sent: a proxy's CONNECT, perhaps.
    private var takenBefore = 0
    private(set) var bytesSent: Int64 = 0
    /// Why we gave it up; libcurl then only says that a callback failed.
    private(set) var failure: TransferError?

    init(
        id: TransferID,
        request: TransferRequest,
        client: any TransferClient,
        easy: EasyHandle,
        context: TransferContext,
        delegate: any TransferDelegate
    ) {
        self.id = id
        self.request = request
        self.client = client
        self.easy = easy
        self.delegate = delegate
        clock = context.clock
        spent = context.spent
        demand = context.demand
        bodyIsReady = context.bodyIsReady
        holdsBody = request.holdsBody(demand)
        lastActivity = context.since
        lastTurn = context.since
        body = request.body.map { RequestBodyReader($0) }
        unseen = UnseenBytes(usesTunnel: request.usesTunnel)
        examination =
            request.url.isTLS ? ServerExamination(request.trustDomain, url: request.url) : nil
    }

    /// libcurl's form of the request.
    var options: TransferOptions { request.options(examination, demand: demand) }

    // MARK: - The end

    /// Judges the end that libcurl reported.
    func end(code: Int32) -> TransferEnd {
        // libcurl has not answered it, and there is no body to say so.
        if code == 0, failure == nil { _ = acceptHeldHead() }
        return TransferEnd(id: id, error: failure ?? judge(code), metrics: metrics)
    }

    /// The end of a transfer that we stopped.
    func end(_ error: TransferError) -> TransferEnd {
        TransferEnd(id: id, error: error, metrics: metrics)
    }

    /// libcurl takes some broken ends for good ones.
    private func judge(_ code: Int32) -> TransferError? {
        if let error = proxyError(code) { return error }
        // CURLE_PARTIAL_FILE says the same, without the numbers; any other failure says more.
        if code == 0 || code == 18, let error = incoming?.lengthError { return error }
        if let error = easy.error(for: code) {
            // In a later handshake of the connection the request is out already, and goes to no other server.
            if let refusal = examination?.error {
                return hasConnection ? .client(refusal) : .untrusted(refusal)
            }
            // CURLE_PEER_FAILED_VERIFICATION by libcurl's own look, after ours: it compares names, too.
            if code == 60, let refusal = examination?.refusal(.host) { return .untrusted(refusal) }
            if hasConnection, let failure = reader.failure(error) { return failure }
            // Later libcurls look, too.
            if watchesForCloseNotify, error.message.contains("unexpected eof") { return .missingCloseNotify }
            if request.mayOfferHTTP2, head == nil, KnownVersions.isRefusal(error, chosen: chosenProtocol) {
                return .httpVersionNotAgreed
            }
            // CURLE_UNSUPPORTED_PROTOCOL, with a connection: the server does not speak HTTP.
            return code == 1 && hasConnection ? .malformedHead(error.message) : .curl(error)
        }
        if head == nil || reader.isInsideHead { return .truncatedHead }
        if watchesForCloseNotify, !easy.hasCloseNotify { return .missingCloseNotify }
        if incoming?.endProof == .trailers, !reader.hasTrailers, EndProof.canBeAskedAgain(request) {
            return .endNotProvable
        }
        return incoming?.codingError
    }

    /// It is over: what the request's body comes from is let go.
    func stopSending() {
        body?.stop()
    }

    // MARK: - Holding

    /// The client's sink has room again.
    /// - Returns: why the transfer has to be given up: libcurl ignores a failing callback here.
    func resumeReceiving() -> TransferError? {
        guard isHeld else { return nil }
        isHeld = false
        goOn()
        easy.resumeReceiving()
        return failure
    }

    /// The request's body has more.
    /// - Returns: why the transfer has to be given up, as in ``resumeReceiving()``.
    func resumeSending() -> TransferError? {
        guard waitsForBody else { return nil }
        waitsForBody = false
        goOn()
        easy.resumeSending()
        return failure
    }

    private func stall() {
        stalledSince = clock.now
        delegate.transferDidStall(id)
    }

    private func goOn() {
        lastActivity = clock.now
        guard stalledSince != nil else { return }
        stalledSince = nil
        if !isPutAside { delegate.transferDidGoOn(id) }
    }

    /// No byte can move, and it is not the server's fault.
    private var isExcused: Bool { isHeld || waitsForBody || isPutAside }

    /// The time of the next look for idleness, later than `now`; `nil`: it has been idle for too long.
    func nextLook(after now: MonotonicTime) -> MonotonicTime? {
        if isExcused { return now + max(request.idleTimeout, Self.shortestLook) }
        // Compared with the rounded sum that was entered: `now - lastActivity` is rounded otherwise.
        let deadline = lastActivity + request.idleTimeout
        return deadline > now ? deadline : nil
    }

    // MARK: - EasyHandleDelegate

    func easyHandleWillSendRequest(over connection: ConnectionID) -> Bool {
        lastActivity = clock.now
        unseen.end()
        var connection = connection
        if request.version == .http2PriorKnowledge { connection.isShared = true }
        // Nothing of the body was read, so it is there for another try.
        let mayGoBack = head == nil && heldHead == nil && !isRefusedByProxy && bytesSent == 0
        guard delegate.transfer(id, didConnectTo: connection, mayGoBack: mayGoBack) else {
            return give(up: .noConnectionLeft)
        }
        if heldHead != nil {
            // libcurl answers it. What follows is the response to another request.
            answerCount += 1
            guard answerCount <= Self.maximumAnswers else { return give(up: .endlessChallenges) }
            heldHead = nil
            reader = ResponseHeadReader()
        } else {
            guard maySendNow else { return give(up: .notSentAgain) }
        }
        if isRefusedByProxy {
            isRefusedByProxy = false
            reader = ResponseHeadReader()
            // The proxy has spoken; the server need not be asked for leave as well.
            if holdsBody {
                holdsBody = false
                do throws(CurlError) {
                    try easy.replaceHeaderLines(request.headerLines(holdsBody: false))
                } catch {
                    return give(up: .curl(error))
                }
            }
        }
        if isTLS { chosenProtocol = .some(easy.chosenProtocol) }
        if request.mayOfferHTTP2, !request.mayBeSentAgain, chosenProtocol == .some(nil) {
            return give(up: .httpVersionNotAgreed)
        }
        hasConnection = true
        takenBefore = easy.requestBytesTaken
        return true
    }

    /// libcurl sends a request again, over a fresh connection, when the one that it had used before died
    /// without a byte of an answer. The server may have acted on the first one, unless no connection took a
    /// byte of it, or a proxy stopped it.
    private var maySendNow: Bool {
        request.mayBeSentAgain || isRefusedByProxy || !hasConnection || easy.requestBytesTaken == takenBefore
    }

    func easyHandleDidReceiveHeaderLine(_ line: Span<UInt8>) -> Bool {
        lastActivity = clock.now
        let event = reader.read(line)
        if let excess = reader.excess { return give(up: .headTooLong(excess)) }
        guard case .head(let head) = event else { return true }
        for line in head.fields.values(for: "Set-Cookie") {
            easy.didReceiveCookie()
            cookiePrefixes.read(line)
        }
        guard !head.isInterim else { return true }
        if head.status == 407, request.isAskedOfProxy {
            isRefusedByProxy = true
            watchUnseen()
            return true
        }
        if head.status == 417, holdsBody { return give(up: .bodyCannotWait) }
        if let reason = reader.malformation ?? head.malformation(isTLS: isTLS, request.version) {
            self.head = head
            return give(up: .malformedHead(reason))
        }
        guard !mayBeAnswered(head) else {
            heldHead = head
            watchUnseen()
            return true
        }
        return accept(head)
    }

    /// Whether libcurl may go on by itself after such a head: it answers a 401, or it has sent the request
    /// without its body first, and was not challenged. A byte of the body, or the end, shows that it has not.
    private func mayBeAnswered(_ head: ResponseHead) -> Bool {
        switch request.authentication?.scheme {
        case nil, .basic: false
        case .ntlm, .negotiate:
            head.status == 401 || head.status < 300 && request.body != nil && bytesSent == 0
        }
    }

    /// - Returns: false to give the transfer up.
    private func acceptHeldHead() -> Bool {
        guard let held = heldHead else { return true }
        heldHead = nil
        return accept(held)
    }

    /// It is the one that the response begins with.
    private func accept(_ head: ResponseHead) -> Bool {
        self.head = head
        unseen.end()
        let body: IncomingBody
        do throws(TransferError) {
            body = try IncomingBody(head, answering: request)
        } catch {
            return give(up: error)
        }
        incoming = body
        if isTLS, body.length == .untilClose {
            watchesForCloseNotify = true
            easy.watchForCloseNotify()
        }
        guard body.endProof.suffices(for: request, head: head) else { return give(up: .endNotProvable) }
        tellCookies()
        switch client.transferDidReceive(head) {
        case .receive: return true
        case .later:
            awaitsAnswer = true
            return true
        case .refuse: return give(up: .refused)
        }
    }

    /// libcurl has judged each cookie when its line came; it knows what is left.
    private func tellCookies() {
        guard easy.receivedCookies > 0, let known = request.cookies else { return }
        let changes = CookieChanges(
            from: known,
            to: easy.cookieLines.compactMap { Cookie(line: $0) },
            refusing: cookiePrefixes.brokenNames
        )
        if !changes.isEmpty { client.transferDidReceive(changes) }
    }

    func easyHandleDidReceiveBody(_ bytes: Span<UInt8>) -> ReceiveAnswer {
        guard failure == nil, !isRefusedByProxy, acceptHeldHead() else { return .failed }
        if awaitsAnswer || client.transferMustWait {
            isHeld = true
            stall()
            return .full
        }
        guard !waits(for: request.downloadLimits) else {
            isHeld = true
            return .full
        }
        lastActivity = clock.now
        request.downloadLimits.spend(bytes.count, now: clock.now)
        do throws(TransferError) {
            try incoming?.take(bytes, of: request) { try client.transferDidReceive($0) }
            return .taken
        } catch {
            failure = error
            return .failed
        }
    }

    func easyHandleNeedsBody(atMost count: Int) -> SendAnswer {
        lastActivity = clock.now
        guard !waits(for: request.uploadLimits) else {
            waitsForBody = true
            return .notYet
        }
        let room = min(count, request.uploadLimits.advisedPiece)
        guard let answer = body?.next(atMost: room, whenReady: bodyIsReady) else { return .end }
        switch answer {
        case .bytes(let data):
            bytesSent += Int64(data.count)
            request.uploadLimits.spend(data.count, now: clock.now)
            client.transferDidSend(data.count)
        case .failed:
            if case .stream(let stream) = body?.body, let error = stream.error {
                failure = error as? TransferError ?? .body(error)
            }
        case .notYet:
            waitsForBody = true
            stall()
        case .end:
            break
        }
        return answer
    }

    func easyHandleSeeksBody(to offset: Int64) -> Bool {
        guard heldHead != nil || maySendNow else { return give(up: .notSentAgain) }
        guard body?.seek(to: offset) == true else { return give(up: .bodyNotRepeatable) }
        client.transferDidSeek(to: offset)
        return true
    }

    /// Whether a limit lets nothing move now; then the transfer is held until it does.
    private func waits(for limits: [BandwidthLimit]) -> Bool {
        let wait = limits.wait(now: clock.now)
        guard wait > 0 else {
            if !limits.isEmpty { lastTurn = clock.now }
            return false
        }
        delegate.transfer(id, mustWaitUntil: clock.now + wait)
        return true
    }

    private var isTLS: Bool { examination != nil }

    func give(up reason: TransferError) -> Bool {
        failure = reason
        return false
    }
}
