import Foundation
internal import OperationNetworkingSystem

/// One transfer in progress: turns libcurl's callbacks into heads, bytes and a verified end.
///
/// Used on the network thread; libcurl calls it while ``Transfers`` drives libcurl.
final class Transfer: EasyHandleDelegate {
    let id: TransferID
    let start: TransferStart
    /// The request of `start`: a call that takes one from another object copies it each time.
    let request: TransferRequest
    let easy: EasyHandle
    let context: TransferContext
    private unowned let delegate: any TransferDelegate
    /// Judges the server; `nil` without TLS.
    private let examination: ServerExamination?

    @safe @exclusivity(unchecked) private(set) var connection = TransferConnection()
    @safe @exclusivity(unchecked) private(set) var activity: TransferActivity
    private(set) var outgoing: OutgoingBody
    @safe @exclusivity(unchecked) private(set) var heads = ResponseHeads()
    /// The body, once the head of the response has arrived.
    private(set) var incoming: IncomingBody?
    @safe @exclusivity(unchecked) private var pieces = PassQuota()
    @safe @exclusivity(unchecked) var discarded: DiscardedByteCounter
    /// Why the transfer was abandoned here; libcurl then only reports that a callback failed.
    @safe @exclusivity(unchecked) private(set) var failure: TransferError?

    init(
        id: TransferID,
        start: TransferStart,
        easy: EasyHandle,
        examination: ServerExamination?,
        context: TransferContext,
        delegate: any TransferDelegate
    ) {
        self.id = id
        self.start = start
        request = start.request
        self.easy = easy
        self.delegate = delegate
        self.context = context
        activity = TransferActivity(since: context.since, isPlain: examination == nil)
        outgoing = OutgoingBody(of: start.request, demand: context.demand)
        discarded = DiscardedByteCounter(usesTunnel: start.request.usesTunnel)
        self.examination = examination
    }

    var client: any TransferClient { start.client }

    /// Whether the transfer is about to open the file of its body.
    var opensBody: Bool { request.body?.isStream == true && outgoing.bytesSent == 0 }

    var clock: PassClock { context.clock }

    // MARK: - The end

    /// Evaluates the end that libcurl reported.
    func end(code: Int32) -> TransferEnd {
        if code == 0, failure == nil {
            // libcurl has not answered the held head, and no body has shown that before.
            if heads.awaitsProof, !heads.reader.hasTrailers {
                _ = give(up: .endNotProvable)
            } else {
                _ = acceptHeldHead()
            }
        }
        if code != 0, failure == nil { acceptBrokenHead(code) }
        guard let error = failure ?? judge(code) else {
            // A 2xx responds to the whole request (RFC 9110 §15.3); other responses may follow a part of its
            // body.
            let hasSentAll = heads.head?.isOfBody == true && outgoing.isAtEnd
            return TransferEnd(id: id, error: nil, metrics: metrics, sentCount: hasSentAll ? .max : 0)
        }
        return end(error)
    }

    /// Accepts a head at which libcurl ended the transfer because of an invalid length or coding. The lines
    /// before it contain the status, and only the end of the body is unknown.
    private func acceptBrokenHead(_ code: Int32) {
        guard connection.isThere, let error = easy.error(for: code),
            case .length(let fault) = heads.reader.failure(error),
            let head = heads.reader.unfinishedHead,
            head.malformation(isTLS: isTLS, request.version) == nil,
            !(head.status == 407 && request.goesToProxy), !(head.status == 417 && outgoing.awaitsProxy),
            // Kept bytes are not discarded because of half a head.
            head.status != 416
        else { return }
        guard !endsKeptConnection(head) else {
            _ = give(up: .connectionTimedOut)
            return
        }
        connection.didAnswer()
        if head.fields.contains("Set-Cookie") { readCookies(of: head) }
        _ = accept(head, lengthFault: fault)
    }

    /// The end of a transfer that failed, or was stopped here, after `sent` bytes of its body have left this
    /// machine.
    func end(_ error: TransferError, sent: Int64 = 0) -> TransferEnd {
        TransferEnd(id: id, error: error, metrics: metrics, sentCount: sent)
    }

    /// Finds the error of a transfer: libcurl accepts some incomplete ends.
    private func judge(_ code: Int32) -> TransferError? {
        if let error = proxyError(code) { return error }
        // CURLE_PARTIAL_FILE means the same, without the numbers; any other failure is more specific.
        if code == 0 || code == 18, let error = incoming?.lengthError { return error }
        if let error = easy.error(for: code) {
            // In a later handshake of the connection, the request has already been sent, and goes to no other
            // server.
            if let refusal = examination?.error {
                return connection.isThere ? .client(refusal) : .untrusted(refusal)
            }
            // CURLE_PEER_FAILED_VERIFICATION by libcurl's own check after ours: it compares names, too.
            if code == 60, let refusal = examination?.refusal(.host) { return .untrusted(refusal) }
            if connection.isThere, let failure = heads.reader.failure(error) { return failure }
            // Later versions of libcurl check this, too.
            if watchesForCloseNotify, error.message.contains("unexpected eof") { return .missingCloseNotify }
            if request.mayOfferHTTP2, heads.status == nil,
                KnownVersions.isRefusal(error, chosen: connection.chosenProtocol)
            {
                return .httpVersionNotAgreed
            }
            // CURLE_UNSUPPORTED_PROTOCOL, with a connection: the server does not speak HTTP.
            return code == 1 && connection.isThere ? .malformedHead(error.message) : .curl(error)
        }
        if heads.status == nil || heads.reader.isInsideHead { return .truncatedHead }
        if watchesForCloseNotify, !easy.hasCloseNotify { return .missingCloseNotify }
        if let incoming, request.canBeRepeated, !heads.reader.hasTrailers, heads.head?.isOfBody == true,
            incoming.endProof == .trailers || incoming.isEmptyInCoding
        {
            return .endNotProvable
        }
        return incoming?.codingError
    }

    private var watchesForCloseNotify: Bool { isTLS && incoming?.length == .untilClose }

    /// Releases the source of the request's body at the end of the transfer.
    func stopSending() {
        outgoing.stop()
    }

    /// Returns the request of a transfer that replaces this ended one: its body starts at the first byte,
    /// which is reported to the client.
    /// - Returns: `nil` if the body has been read and cannot be read again.
    func fromStart(_ next: TransferRequest) -> TransferRequest? {
        guard let body = next.body else { return next }
        guard let fresh = body.fromStart() else { return nil }
        var next = next
        next.body = fresh
        if outgoing.bytesSent > 0 { client.transferDidSeek(to: 0) }
        return next
    }

    // MARK: - Holding

    /// Resumes receiving, because the client's sink has room again.
    /// - Returns: why the transfer has to be ended: libcurl ignores a failing callback here.
    func resumeReceiving() -> TransferError? {
        guard activity.releaseResponse() else { return nil }
        endStall()
        easy.resumeReceiving()
        return failure
    }

    /// Resumes sending, because the request's body has more.
    /// - Returns: why the transfer has to be ended, as in ``resumeReceiving()``.
    func resumeSending() -> TransferError? {
        guard activity.releaseRequest() else { return nil }
        endStall()
        easy.resumeSending()
        return failure
    }

    /// Receives the body, as the client has decided.
    func receive() -> TransferError? {
        heads.awaitsAnswer = false
        return resumeReceiving()
    }

    /// Pauses or resumes the transfer: see ``TransferActivity``.
    func setPaused(_ isPaused: Bool) {
        activity.setPaused(isPaused, now: clock.now)
    }

    private func stall() {
        activity.stall(now: clock.now)
        delegate.transferDidStall(id)
    }

    private func endStall() {
        if activity.resume(now: clock.now) { delegate.transferDidResume(id) }
    }

    func didMove() {
        activity.didMove(now: clock.now)
    }

    /// The time of the next check for idleness, later than `now`; `nil` if the transfer has been idle for too
    /// long. `movement` queries the kernel.
    func nextLook(after now: MonotonicTime, _ movement: () -> SocketMovement? = { nil }) -> MonotonicTime? {
        // libcurl requests more of the body only when nearly all of its buffer has been sent.
        if request.body != nil, activity.didSend(easy.bodyBytesTaken) { activity.didMove(now: now) }
        if let look = activity.nextLook(after: now, timeout: request.idleTimeout) { return look }
        // The bytes of a shared connection may belong to others.
        guard !connection.isShared, let movement = movement() else { return nil }
        return activity.nextLook(
            after: now,
            timeout: request.idleTimeout,
            by: movement,
            of: octets(isInsideRecord: movement.isInsideRecord)
        )
    }

    /// The meaning of the bytes that the kernel has received last.
    private func octets(isInsideRecord: Bool) -> TransferActivity.Octets {
        guard connection.isThere else {
            // A proxy's response to CONNECT is a head.
            return request.usesTunnel && !easy.hasBegunTLS ? .framing : .handshake
        }
        return isInsideRecord && incoming != nil && !heads.reader.hasTrailers ? .record : .framing
    }

    /// The error of a transfer that has been idle for too long.
    var idleError: TransferError {
        activity.isInsideFraming
            ? .slowHead(seconds: request.idleTimeout) : .idle(seconds: request.idleTimeout)
    }

    /// The bytes of the request's body that have left this machine, given the `unacknowledged` bytes of its
    /// connection, which have not.
    func sentCount(unacknowledged: Int) -> Int64 {
        min(easy.bodyBytesTaken, outgoing.position) - Int64(unacknowledged)
    }

    // MARK: - EasyHandleDelegate

    func easyHandleWillSendRequest(over number: ConnectionID) -> Bool {
        didMove()
        guard heads.status == nil else { return endInsteadOfSendingAgain() }
        if !connection.isThere { connection.noteTunnel(easy.proxyOffersMoreThanBasic) }
        discarded.end()
        var number = number
        if request.version == .http2PriorKnowledge { number.isShared = true }
        // Nothing of the body has been read, so it is available for another try; nor was the head sent
        // before.
        let mayGoBack = heads.isEmpty && outgoing.bytesSent == 0 && maySendNow
        guard delegate.transfer(id, didConnectTo: number, mayGoBack: mayGoBack) else {
            return give(up: .noConnectionLeft)
        }
        if heads.isHolding {
            guard heads.answerHeld() else { return give(up: .endlessChallenges) }
        } else {
            guard maySendNow else { return give(up: .notSentAgain) }
        }
        if heads.repeatToProxy(), outgoing.release() {
            do throws(CurlError) {
                try easy.replaceHeaderLines(
                    request.headerLines(holdsBody: false),
                    octetLine: request.octetLine
                )
            } catch {
                return give(up: .curl(error))
            }
        }
        if isTLS { connection.didChoose(easy.chosenProtocol) }
        if request.mayOfferHTTP2, !request.mayBeSentAgain, connection.chosenProtocol == .some(nil) {
            return give(up: .httpVersionNotAgreed)
        }
        // Last, because what happens after it is not visible.
        guard easy.isQuiet(number) else { return give(up: .connectionNotQuiet) }
        connection.willSend(
            taken: easy.requestBytesTaken,
            isShared: number.isShared,
            isKept: easy.isConnectionKept
        )
        return true
    }

    /// Whether the request may be sent now. libcurl sends a request again, over a fresh connection, if a
    /// reused one died without a byte of a response. The server may have acted on the first request, unless
    /// no connection accepted a byte of it, or a proxy stopped it.
    private var maySendNow: Bool {
        request.mayBeSentAgain || heads.isRefusedByProxy
            || connection.hasSentNothing(taken: easy.requestBytesTaken)
    }

    func easyHandleDidReceiveHeaderLine(_ line: Span<UInt8>) -> Bool {
        activity.didReceiveLine(now: clock.now)
        let event = heads.read(line)
        if let excess = heads.reader.excess { return give(up: .headTooLong(excess)) }
        if let reason = heads.reader.malformation { return give(up: .malformedHead(reason)) }
        guard case .head(let head) = event else { return true }
        guard !endsKeptConnection(head) else { return give(up: .connectionTimedOut) }
        connection.didAnswer()
        guard !head.isInterim else { return pass(interim: head) }
        didMove()
        if head.fields.contains("Set-Cookie") { readCookies(of: head) }
        if head.status == 407, request.goesToProxy {
            // libcurl reads the body.
            guard heads.refuseByProxy(head), IncomingBody(head, answering: request).fault == nil else {
                return false
            }
            countDiscarded()
            return true
        }
        if head.status == 417, outgoing.awaitsProxy { return give(up: .bodyCannotWait) }
        if let reason = head.malformation(isTLS: isTLS, request.version) {
            heads.accept(head)
            return give(up: .malformedHead(reason))
        }
        if mayBeAnswered(head), IncomingBody(head, answering: request).fault == nil {
            heads.hold(head)
            countDiscarded()
            return true
        }
        if needsFirstByte(head) {
            heads.hold(head, awaitsProof: true)
            return true
        }
        return accept(head)
    }

    /// Whether the head is a server's timeout of an idle connection, sent just when a request was sent. If
    /// the request may not be sent twice, the head is the response: it says that the server has not received
    /// all of the request.
    private func endsKeptConnection(_ head: ResponseHead) -> Bool {
        guard head.status == 408, connection.awaitsFirstHead, request.mayUseKeptConnection,
            request.mayBeSentAgain, request.body?.canStartAgain != false
        else { return false }
        let options = head.fields.combined(for: "Connection")?.lowercased() ?? ""
        return options.split { ", \t".contains($0) }.contains("close")
    }

    /// Whether the end of the body could not be proven if it is empty, and the request may be repeated.
    private func needsFirstByte(_ head: ResponseHead) -> Bool {
        guard request.version == .automatic, head.version == "HTTP/2", head.isOfBody,
            request.canBeRepeated, head.fields.hasContentCoding
        else { return false }
        return IncomingBody(head, answering: request).isEmptyInCoding
    }

    /// Whether libcurl may continue by itself after such a head: because it answers a 401, or because it has
    /// sent the request without its body first, and was not challenged. A byte of the body, or the end, shows
    /// that it has not continued.
    private func mayBeAnswered(_ head: ResponseHead) -> Bool {
        switch request.authentication?.scheme {
        case nil, .basic: false
        case .ntlm, .negotiate:
            head.status == 401 || head.status < 300 && request.body != nil && outgoing.bytesSent == 0
        }
    }

    /// - Returns: `false` to end the transfer.
    private func acceptHeldHead() -> Bool {
        heads.takeHeld().map { accept($0) } ?? true
    }

    /// Accepts the final head, the head of the response. `lengthFault` is what libcurl found wrong with its
    /// length.
    private func accept(_ head: ResponseHead, lengthFault: MessageLength.Failure? = nil) -> Bool {
        heads.accept(head)
        discarded.end()
        let isMistaken = isMistakenForChallenge(head)
        let body = IncomingBody(head, answering: request, lengthFault: lengthFault)
        incoming = body
        if head.status >= 300 { waitForNoMoreBody() }
        if body.isShort { clock.hurry() }
        if watchesForCloseNotify { easy.watchForCloseNotify() }
        if !connection.isShared, body.length.keepsConnectionDespiteExcess { easy.watchForExcess() }
        guard isMistaken || body.fault != nil || body.endProof.suffices(for: request, head: head) else {
            return give(up: .endNotProvable)
        }
        // If the length is in doubt, so is the end of the head.
        if body.fault == nil { reportCookies() }
        switch client.transferDidReceive(body.fault == nil ? head : head.withoutBody) {
        case .receive: break
        case .later: heads.awaitsAnswer = true
        case .refuse: return give(up: .refused)
        }
        if let fault = body.fault { return give(up: fault) }
        return isMistaken ? give(up: .refused) : true
    }

    /// Skips an interim head. Only its `Link` fields are meant for immediate use (RFC 8297 §2), and are not
    /// used here. libcurl stores its cookies, and would send them.
    private func pass(interim head: ResponseHead) -> Bool {
        activity.didReceiveInterim(now: clock.now)
        guard head.fields.contains("Set-Cookie"), let known = request.cookies else { return true }
        do throws(CurlError) {
            try easy.replaceCookies(heads.cookieLines ?? known.map(\.line))
            return true
        } catch {
            return give(up: .curl(error))
        }
    }

    private func readCookies(of head: ResponseHead) {
        for line in head.fields.values(for: "Set-Cookie") {
            easy.didReceiveCookie()
            heads.readCookie(line)
        }
        // Another final head may follow, and interim ones before it.
        if mayBeAnswered(head) || head.status == 407 { heads.cookieLines = easy.cookieLines }
    }

    /// The server has rejected the request, and does not need the rest of its body (RFC 9112 §9.5). libcurl
    /// then stops sending, but 7.88 forgets that if it is waiting for a piece, and would not end before the
    /// piece is available: it has to be woken.
    private func waitForNoMoreBody() {
        activity.refuse()
        if !outgoing.isAtEnd { context.bodyIsReady() }
    }

    /// Reports the cookies. libcurl has evaluated each cookie when its line arrived, and knows the result.
    private func reportCookies() {
        guard easy.receivedCookies > 0, let known = request.cookies else { return }
        let host = request.cookieHost ?? ""
        let changes = CookieChanges(
            from: known,
            to: easy.cookieLines.compactMap { Cookie(line: $0) },
            naming: heads.cookieNames,
            refusing: heads.brokenCookieNames,
            by: host,
            isSecure: Cookie.isSecure(host: host, isTLS: isTLS),
            erasing: heads.cookieErasures,
            ofRequestTo: request.url.path(percentEncoded: true)
        )
        if !changes.isEmpty { client.transferDidReceive(changes) }
    }

    func easyHandleDidReceiveBody(_ bytes: Span<UInt8>) -> ReceiveAnswer {
        guard failure == nil, !heads.isRefusedByProxy, acceptHeldHead(), incoming != nil else {
            return .failed
        }
        if heads.awaitsAnswer || client.transferMustWait {
            activity.holdResponse()
            stall()
            return .full
        }
        guard !waits(for: request.shared.value.downloadLimits) else {
            activity.holdResponse()
            return .full
        }
        guard pieces.take(in: clock.pass) else { return waitForNextPass() }
        didMove()
        let fresh = incoming?.newBytes(of: bytes.count) ?? bytes.count
        request.shared.value.downloadLimits.spend(fresh, now: clock.now)
        do throws(TransferError) {
            let isTaken = try incoming?.take(bytes, of: request) { try client.transferDidReceive($0) }
            guard isTaken != false else { return waitForNextPass() }
            if incoming?.isComplete == true {
                clock.hurry()
            } else if mayYield, pieces.yields(after: bytes.count, isAwaited: clock.isAwaited) {
                yieldTurn()
            }
            return .taken
        } catch {
            failure = error
            return .failed
        }
    }

    func easyHandleNeedsBody(atMost count: Int) -> SendAnswer {
        didMove()
        guard !waits(for: request.shared.value.uploadLimits) else {
            activity.holdRequest()
            return .notYet
        }
        let room = min(count, request.shared.value.uploadLimits.advisedPiece)
        let answer = outgoing.next(atMost: room, whenReady: context.bodyIsReady)
        switch answer {
        case .bytes(let data):
            request.shared.value.uploadLimits.spend(data.count, now: clock.now)
            client.transferDidSend(data.count)
        case .failed:
            if let error = outgoing.error { failure = error as? TransferError ?? .body(error) }
        case .notYet:
            activity.holdRequest()
            stall()
        case .end:
            break
        }
        return answer
    }

    func easyHandleSeeksBody(to offset: Int64) -> Bool {
        guard heads.status == nil else { return endInsteadOfSendingAgain() }
        guard heads.isHolding || maySendNow else { return give(up: .notSentAgain) }
        guard outgoing.seek(to: offset) else { return give(up: .bodyNotRepeatable) }
        client.transferDidSeek(to: offset)
        return true
    }

    /// Whether the transfer may yield. Not if streams share a connection: libcurl 7.88 loses bytes of held
    /// streams. Nor if the end of the connection ends the body: libcurl 8.3 to 8.5 may read that although the
    /// transfer is held, and lose the bytes before it.
    private var mayYield: Bool { !connection.isShared && incoming?.length != .untilClose }

    /// Yields to others on the thread: the rest of this body is received in the next pass.
    private func yieldTurn() {
        activity.holdResponse()
        delegate.transfer(id, mustWaitUntil: clock.now)
        easy.holdReceiving()
    }

    /// Ends the share of this body in the pass, since others need the thread, too.
    private func waitForNextPass() -> ReceiveAnswer {
        activity.holdResponse()
        delegate.transfer(id, mustWaitUntil: clock.now)
        return .full
    }

    /// Holds the transfer if a bandwidth limit allows nothing now. Returns whether it does.
    private func waits(for limits: [BandwidthLimit]) -> Bool {
        let wait = limits.wait(now: clock.now)
        guard wait > 0 else {
            if !limits.isEmpty { activity.didTakeTurn(now: clock.now) }
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

extension ResponseHead {
    /// Whether the body is the requested one, unlike that of a redirect or an error.
    var isOfBody: Bool { 200..<300 ~= status }
}
