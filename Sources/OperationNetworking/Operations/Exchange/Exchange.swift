import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// One request's business with its server, across redirects, pauses and resumptions, until there is an end.
///
/// It is made on any thread, and then used on the network thread only. While a transfer runs it keeps its
/// owner.
final class Exchange: Exchanging, @unchecked Sendable {
    // @unchecked: after init everything happens on the network thread, to which it is carried in closures.

    enum Phase {
        /// Not begun, suspended, or about to ask again.
        case idle
        /// The sink looks what it has from an earlier process.
        case opening
        case transferring(TransferID)
        /// A closure of the user's says how to go on.
        case deciding
        /// The sink writes its last bytes.
        case finishing
        /// It is decided how it ends; the sink still writes.
        case stopping(ExchangeEnd)
        case ended(ExchangeEnd)
    }

    /// Whether the sink has said what it has.
    enum Opening {
        case notYet, asked, done
    }

    /// The decision of a response's head about what follows its transfer.
    enum Verdict {
        /// The end of the body decides.
        case none
        /// The owner has been asked what follows, and has not answered yet.
        case asking
        /// Another request follows, however the body ends.
        case goOn((Exchange) -> Void)
        /// Refused, to ask again.
        case askAgain
        /// Refused, since its whole body is held (S23).
        case complete
        /// Fails because of this, however the body ends.
        case fail(any Error)
    }

    /// The use of the body that is coming.
    enum BodyUse {
        /// It goes to the sink.
        case deliver
        /// This number of bytes is held. These come after them, are there as well, and are compared; what
        /// follows goes to the sink.
        case skip(Int64, then: ArraySlice<UInt8>)
        /// This number of bytes is held: the sink compares them, and writes what comes after them.
        case compare(Int64)
        /// It has to begin with these bytes, which are there already; what comes after them goes to the sink.
        case check(ArraySlice<UInt8>)
        /// It explains an error, or a redirect: it is kept aside, up to this number of bytes, and cut there.
        case keepAside(Int64)
        /// No head has said that a body comes.
        case drop
        /// It is of no use, and cut after this number of bytes.
        case discard(Int)
    }

    let configuration: ExchangeConfiguration
    let sink: any ResponseSink
    private let pieces: PieceQueue?
    let clock = PassClock()
    var phase = Phase.idle
    var opening = Opening.notYet
    /// The layers before the network, once they were made.
    private var layers: (any TransferRunning)?
    /// Its place in the line, or its turn, before there is a transfer.
    var turn: TransferID?
    var owner: (any ExchangeOwner)?
    var cookies: CookieWork
    var holding = Holding()
    /// Counts beginnings and stops: what was asked in an earlier one is not for this one.
    var round = 0

    /// The caller's, with the address that it has now.
    var request: URLRequest
    var hop: URLRequest
    /// The reader of the hop's body, if that is a stream.
    var streamedBody: RequestBody?
    var redirectCount = 0
    /// Told when its request has begun, or waits for its server: it may fail, or be complete without a
    /// transfer.
    var untoldRedirect: (redirect: HTTPURLResponse, request: URLRequest)?
    var authentication: Authentication
    /// Servers that the challenge closure trusts although the policy does not.
    var trustedServers: Set<TrustException> = []
    /// Tells the challenge closure's task that its answer is not awaited any more.
    var stopAsking: (@Sendable () -> Void)?
    /// The end of the transfer whose head the owner has not answered yet.
    var endBeforeAnswer: TransferEnd?
    var bodyUse = BodyUse.deliver
    var sideBody = Data()
    var resumption: Resumption
    /// Under which only another file than the one that is there is sent.
    var condition: FileCondition?
    var verdict = Verdict.none
    /// No byte has come since the owner gave another address.
    var hasFreshURL = false

    var attempts: Attempts
    var totalTime: TotalTime

    var download = ProgressMeter()
    var upload = ProgressMeter()
    var metrics = TransferLog()

    /// `cookies` are those for the first hop, if they have been read already.
    init(_ configuration: ExchangeConfiguration, cookies: CookieReading = .notYet) {
        self.configuration = configuration
        sink = configuration.makeSink()
        pieces = configuration.givesPieces ? PieceQueue() : nil
        request = configuration.request
        hop = configuration.request
        streamedBody = configuration.body
        resumption = Resumption(isAllowed: configuration.resumesByRange, overlap: configuration.overlap)
        attempts = Attempts(policy: configuration.settings.retryPolicy)
        totalTime = TotalTime(limit: configuration.settings.totalTimeout)
        self.cookies = CookieWork(cookies)
        authentication = Authentication(configuration.settings, for: configuration.request.url)
    }

    // MARK: - Commands

    func begin(_ room: NetworkRoom, for owner: any ExchangeOwner) {
        switch phase {
        case .ended(let end):
            owner.exchangeDidEnd(end)
        case .finishing, .stopping:
            // Its sink was writing the last bytes when it was suspended, and still is.
            self.owner = owner
        case .transferring(let id) where holding.isHeld:
            self.owner = owner
            clock.tick()
            startTotalTime()
            takeUp(id, room)
        case .opening, .deciding, .transferring:
            break
        case .idle:
            self.owner = owner
            clock.tick()
            attempts.begin(now: clock.now)
            startTotalTime()
            startFromFirstHop(room)
        }
    }

    func startFromFirstHop(_ room: NetworkRoom) {
        hop = request
        streamedBody = configuration.body
        redirectCount = 0
        untoldRedirect = nil
        beginHop()
        startTransfer(room)
    }

    func suspend(_ room: NetworkRoom) {
        if !hold(room) { stopTransfer(room) }
        clock.tick()
        totalTime.stop(now: clock.now)
        owner = nil
    }

    func cancel(_ room: NetworkRoom, for owner: any ExchangeOwner) {
        stopTransfer(room)
        if case .ended(let end) = phase { return owner.exchangeDidEnd(end) }
        self.owner = owner
        fail(URLError.cancelled(url: configuration.request.url))
    }

    func stopTransfer(_ room: NetworkRoom) {
        holding = Holding()
        giveTurnBack(room)
        switch phase {
        case .transferring(let id):
            if let cost = runner(room).stop(id) { metrics.add(cost) }
            phase = .idle
            sink.flush()
            giveUpAsking()
        case .opening, .deciding:
            phase = .idle
            giveUpAsking()
        case .idle:
            // It may be about to ask again.
            break
        case .finishing, .stopping, .ended:
            // A sink that writes its last bytes is let finish: that end is as good as any.
            return
        }
        round += 1
        verdict = .none
    }

    private func giveUpAsking() {
        stopAsking?()
        stopAsking = nil
        endBeforeAnswer = nil
    }

    // MARK: - A transfer

    /// The runner of its transfers: the network, or the layers before it.
    func runner(_ room: NetworkRoom) -> any TransferRunning {
        if let layers { return layers }
        guard !configuration.settings.layers.isEmpty else { return room.transfers }
        let made = configuration.settings.layers.fromNetwork.reduce(room.transfers as any TransferRunning) {
            next,
            layer in
            (layer as? any TransferLayering)?.layer(over: next) ?? next
        }
        layers = made
        return made
    }

    func startTransfer(_ room: NetworkRoom) {
        clock.tick()
        if waitsForHost(room) {
            giveTurnBack(room)
            return tellRedirect()
        }
        // Nothing is waited for that may need a connection while there is one for this, or files are open for
        // it.
        guard !waitsForToken() else { return giveTurnBack(room) }
        guard opening == .done else { return open(room) }
        guard !readsCookies() else { return }
        startTransfer(room, with: cookies.take())
    }

    func startTransfer(_ room: NetworkRoom, with cookies: [Cookie]?) {
        authenticateInAdvance(room)
        verdict = .none
        sideBody = Data()
        bodyUse = .drop
        do {
            if let failure = sink.failure { throw failure }
            if let demand = sink.demand { resumption.startOver(because: demand) }
            let asked = resumption.ask(hop, held: sink.count)
            guard asked != .nothing else {
                giveTurnBack(room)
                return finish()
            }
            let request = try transferRequest(asking: asked, cookies)
            let id = turn ?? TransferID.next()
            turn = nil
            phase = .transferring(id)
            round += 1
            let onChange: @Sendable () -> Void = { [weak self] in
                NetworkThread.shared.perform { [weak self] room in self?.sinkDidChange(room, id) }
            }
            sink.onChange = onChange
            pieces?.onChange = onChange
            runner(room).start(request, id: id, for: self)
            tellRedirect()
        } catch {
            giveTurnBack(room)
            fail(error)
        }
    }

    private func tellRedirect() {
        guard let followed = untoldRedirect else { return }
        untoldRedirect = nil
        owner?.exchangeDidFollow(followed.redirect, to: followed.request)
    }

    private func transferRequest(asking asked: ResumeRequest, _ cookies: [Cookie]?) throws -> TransferRequest
    {
        let body = try body()
        if let body {
            upload.restart(at: 0)
            upload.expected = body.length ?? -1
        }
        var question = hop
        if let method = asked.method { question.httpMethod = method }
        if question.value(forHTTPHeaderField: "Expect") == nil, authentication.asksForLeave(body) {
            question.setValue("100-continue", forHTTPHeaderField: "Expect")
        }
        return try configuration.transferRequest(
            for: question,
            body: body,
            asking: asked,
            continues: resumption.asksForRest,
            cookies: cookies,
            authentication: authentication.proof,
            digest: authentication.digest,
            isAtHome: authentication.isAtHome,
            trusting: trustedServers
        )
    }

    /// The body of this hop: a redirect may have dropped it, a redirect closure may have put in another one.
    private func body() throws -> RequestBody? {
        if let data = hop.httpBody { return .data(data) }
        guard hop.httpBodyStream != nil, let body = streamedBody else {
            return hop.sendsEmptyBody ? .data(Data()) : nil
        }
        guard let fresh = body.fromStart() else {
            throw TransferError.bodyNotRepeatable.error(for: hop.url ?? URL(fileURLWithPath: "/"))
        }
        return fresh
    }

    private func sinkDidChange(_ room: NetworkRoom, _ id: TransferID) {
        guard case .transferring(id) = phase else { return }
        guard sink.failure != nil || sink.demand != nil else { return runner(room).resumeReceiving(id) }
        if let cost = runner(room).stop(id) { metrics.add(cost) }
        // One that is held goes on when it is begun again.
        if holding.isHeld { phase = .idle } else { startAgain() }
        holding = Holding()
    }
}

// MARK: - TransferClient

extension Exchange: TransferClient {
    var transferMustWait: Bool {
        if holding.isHeld { return true }
        return switch bodyUse {
        case .deliver, .skip, .compare, .check: sink.isFull || pieces?.isFull == true
        case .keepAside, .drop, .discard: false
        }
    }

    func transferDidReceive(_ head: ResponseHead) -> HeadAnswer {
        clock.tick()
        do {
            return try judge(head)
        } catch {
            verdict = .fail(error)
            return .refuse
        }
    }

    func transferDidReceive(_ changes: CookieChanges) {
        store(changes)
    }

    func transferDidReceive(_ bytes: Span<UInt8>) throws {
        switch bodyUse {
        case .deliver:
            try take(bytes)
        case .skip(let left, let known):
            let skipped = Int(min(left, Int64(bytes.count)))
            if left > Int64(skipped) {
                bodyUse = .skip(left - Int64(skipped), then: known)
            } else {
                bodyUse = known.isEmpty ? .deliver : .check(known)
            }
            guard skipped < bytes.count else { return }
            try transferDidReceive(bytes.extracting(skipped...))
        case .compare(let left):
            let compared = Int(min(left, Int64(bytes.count)))
            bodyUse = left > Int64(compared) ? .compare(left - Int64(compared)) : .deliver
            try take(bytes, countingFrom: compared)
        case .check(let known):
            let count = min(known.count, bytes.count)
            guard known.prefix(count).indices.allSatisfy({ bytes[$0 - known.startIndex] == known[$0] }) else {
                didFindDifference()
                throw TransferError.refused
            }
            bodyUse = known.count > count ? .check(known.dropFirst(count)) : .deliver
            guard count < bytes.count else { return }
            try take(bytes.extracting(count...))
        case .keepAside(let limit):
            let room = Int(max(0, limit - Int64(sideBody.count)))
            sideBody.append(bytes.extracting(..<min(room, bytes.count)))
            guard bytes.count <= room else { throw TransferError.refused }
        case .drop:
            break
        case .discard(let left):
            guard bytes.count <= left else { throw TransferError.refused }
            bodyUse = .discard(left - bytes.count)
        }
    }

    func transferDidSend(_ count: Int) {
        clock.tick()
        guard let report = upload.add(count, now: clock.now) else { return }
        owner?.exchangeDidUpload(report)
    }

    func transferDidSeek(to offset: Int64) {
        upload.restart(at: offset)
    }

    func transferDidComplete(_ end: TransferEnd) {
        guard case .transferring(end.id) = phase else { return }
        guard !holding.isHeld else { return holding.end = end }
        metrics.add(end.metrics)
        clock.tick()
        switch verdict {
        case .asking: awaitAnswer(after: end)
        case .goOn(let next): next(self)
        case .askAgain: startAgain()
        case .complete: finish()
        case .fail(let error): fail(error)
        case .none: bodyDidEnd(end)
        }
    }

    func startAgain() {
        phase = .idle
        NetworkThread.shared.perform { [round] room in
            guard self.round == round, case .idle = self.phase else { return }
            self.startTransfer(room)
        }
    }

    /// The bytes from `start` on were not there before.
    private func take(_ bytes: Span<UInt8>, countingFrom start: Int = 0) throws {
        if resumption.end != nil {
            let held = sink.count + Int64(bytes.count - start)
            if let error = resumption.lengthError(held: held, hasEnded: false, url: hop.url) {
                verdict = .fail(error)
                throw TransferError.refused
            }
        }
        try sink.write(bytes)
        guard start < bytes.count else { return }
        hasFreshURL = false
        if let pieces {
            let new = bytes.extracting(start...)
            owner?.exchangeDidReceive(Data(new), done: pieces.append(new.count))
        }
        count(bytes.count - start)
    }

    private func count(_ bytes: Int) {
        clock.tick()
        guard let report = download.add(bytes, now: clock.now) else { return }
        owner?.exchangeDidDownload(report)
    }
}
