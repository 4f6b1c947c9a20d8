import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// One request's business with its server, across redirects, pauses and resumptions, until there is an end.
///
/// It performs what ``ExchangeMachine`` decides. It is made on any thread, and then used on the network
/// thread only. While a transfer runs it keeps its owner.
///
/// It is where the values meet that decide about a request, one property each.
final class Exchange: Exchanging, @unchecked Sendable {
    // @unchecked: after init everything happens on the network thread, to which it is carried in closures.

    typealias Machine = ExchangeMachine<ExchangeNext, ExchangeEnd>

    private(set) var configuration: ExchangeConfiguration
    let sink: any ResponseSink
    private let pieces: PieceQueue?
    /// The time, read once for each event.
    private(set) var now = MonotonicTime.now
    var machine = Machine()
    /// The layers before the network, once they were made.
    private var layers: (any TransferRunning)?
    /// The runner of the last transfer.
    private weak var lastRunner: (any TransferRunning)?
    var owner: (any ExchangeOwner)?
    /// The owner's, since the last ``begin(_:for:in:)``.
    private(set) var lap = 0

    var route: ExchangeRoute
    var cookies: CookieWork
    var authentication: Authentication
    /// Servers that the challenge closure trusts although the policy does not.
    var trustedServers: Set<TrustException> = []
    /// Tells the task of the challenge closure, or of a network, that its answer is not awaited any more.
    var stopAsking: (@Sendable () -> Void)?
    var resumption: Resumption
    var attempts: Attempts
    var totalTime: TotalTime

    /// The connection that a transfer waits for, or has, before its request is known.
    var reservation: TransferID?
    /// The end of the last transfer.
    private var transferEnd: TransferEnd?
    /// The bytes of the body that were kept aside.
    var sideBody = Data()
    /// The sink's files from its last byte on, until it says that it has closed them.
    var closingFiles: ClosingFiles?
    var meters = ExchangeMeters()

    /// - Parameters:
    ///   - configuration: what is asked, and how.
    ///   - cookies: those for the first hop, if they have been read already.
    ///   - earlier: the body so far of an earlier exchange.
    init(
        _ configuration: ExchangeConfiguration,
        cookies: CookieReading = .notYet,
        continuing earlier: EarlierBody? = nil
    ) {
        self.configuration = configuration
        sink = configuration.makeSink(with: earlier?.data ?? Data())
        pieces = configuration.givesPieces ? PieceQueue() : nil
        route = ExchangeRoute(configuration.request, body: configuration.body)
        resumption = Resumption(isAllowed: configuration.resumesByRange, overlap: configuration.overlap)
        attempts = Attempts(policy: configuration.settings.retryPolicy)
        totalTime = TotalTime(limit: configuration.settings.timeouts.total)
        self.cookies = CookieWork(cookies)
        authentication = Authentication(configuration.shared, for: configuration.request.url)
        if let earlier, sink.count > 0 { resumption.take(earlier.content) }
    }

    // MARK: - Commands

    func tick() {
        now = .now
    }

    func begin(_ network: NetworkContext, for owner: any ExchangeOwner, in lap: Int) {
        self.owner = owner
        self.lap = lap
        tick()
        // Here, where a command of the user's arrives, and not at each start: an attempt that forgot would be
        // followed by the next, for ever, on a disk that is full.
        sink.goOn()
        if !machine.isDecided { startTotalTime() }
        perform(machine.begin(), network)
        // A first transfer tells by itself when it lasts.
        if !machine.isTransferring || !meters.log.isEmpty { self.owner?.exchangeLasts() }
        tellProgressSoon()
    }

    func suspend(_ network: NetworkContext) {
        perform(machine.suspend(sink.failure == nil && cannotGoOn), network)
        tick()
        totalTime.stop(now: now)
        // It may be days until it goes on: other authorities may be trusted then, and another user be there.
        configuration.anchorVersions = nil
        cookies.forget()
        owner = nil
    }

    func cancel(_ network: NetworkContext, for owner: any ExchangeOwner) {
        self.owner = owner
        perform(machine.cancel(), network)
        fail(URLError.cancelled(url: configuration.request.url))
    }

    func drop(_ network: NetworkContext) {
        if let stop = machine.drop() { perform(stop, network) }
    }

    func bodySoFar(_ network: NetworkContext) -> EarlierBody? {
        let held = sink.held
        // No archive says which servers the closure trusted.
        guard ResumeRequest.mayContinue(configuration.request), trustedServers.isEmpty,
            resumption.canComeAgain(route.hop, held: held),
            let data = sink.bytesInMemory, let content = resumption.content(of: held)
        else { return nil }
        return EarlierBody(data, content)
    }

    /// Whether the bytes held can neither be taken back nor be continued: a stream of the caller's, a FIFO or
    /// a terminal that has bytes of which no strong validator says what they are.
    var cannotGoOn: Bool {
        guard sink.count > 0, !sink.abilities.canBeEmptied else { return false }
        return !resumption.canComeAgain(route.hop, held: sink.held)
    }

    // MARK: - Effects

    func perform(_ effect: Machine.Effect, _ network: NetworkContext) {
        switch effect {
        case .none:
            break
        case .start:
            attempts.begin(now: now)
            startFromFirstHop(network)
        case .stop(let stop):
            perform(stop, network)
        case .pause(let id):
            runner(network).pause(id)
        case .resume(let id):
            runner(network).resume(id)
        case .resumeReceiving(let id):
            runner(network).resumeReceiving(id)
        case .receive(let id):
            limitUnusedBody()
            runner(network).receive(id)
        case .giveUp(let id):
            runner(network).giveUp(id)
        case .restart(let id):
            perform(Machine.Stop(transfer: id), network)
            // Without a reason to begin anew it has failed, as is found before the next transfer.
            perform(sink.demand.map(askForWhole) ?? .again)
        case .hearEnd:
            if let transferEnd { perform(machine.transferEnded(transferEnd.id)) }
        case .then(let step):
            perform(step)
        }
    }

    func perform(_ step: Machine.Step) {
        switch step {
        case .none, .keepEnd: break
        case .judgeEnd: if let transferEnd { judge(transferEnd) }
        case .goOn(let next): perform(next)
        case .startAgain: startAgain()
        case .tell(let end): tell(end)
        }
    }

    func perform(_ stop: Machine.Stop, _ network: NetworkContext) {
        giveReservationUp(network)
        if let id = stop.transfer {
            if let cost = runner(network).stop(id) { meters.log.add(cost) }
            sink.flush()
        }
        stopAsking?()
        stopAsking = nil
    }

    func perform(_ next: ExchangeNext) {
        switch next {
        case .again: startAgain()
        case .retry(let delay): retry(after: delay)
        case .authenticate(let proof, let head): send(proof, after: head)
        case .renew(let token, let source, let head): renew(token, from: source, after: head)
        case .follow(let response, let request, let url): follow(response, to: request, from: url)
        case .move(let url): move(to: url)
        case .finish: finish()
        case .fail(let error): fail(error)
        }
    }

    /// Begins a wait for code of the app, or for a time. The owner lends its place meanwhile, and has to have
    /// one again before the exchange goes on. The wait lasts until then.
    /// - Returns: a closure that ends it, on any thread; once it was given up, nothing comes of that.
    func waitWithoutPlace<Value: Sendable>(
        _ reason: ExchangeWait,
        _ go: @escaping @Sendable (Exchange, Value, NetworkContext) -> Void
    ) -> @Sendable (Value) -> Void {
        let round = machine.wait()
        owner?.exchangeWaits(reason, in: lap)
        return { [weak self] value in
            NetworkThread.shared.perform { [weak self] network in
                guard let self, machine.isWaiting(in: round) else { return }
                takePlace(network) { exchange, network in
                    guard exchange.machine.goesOn(in: round) else { return }
                    go(exchange, value, network)
                }
            }
        }
    }

    /// Calls `go` once the owner has a place again: now, or later on the network thread.
    func takePlace(_ network: NetworkContext, then go: @escaping @Sendable (Exchange, NetworkContext) -> Void)
    {
        let mayGoOn = owner?.exchangeMayGoOn { [weak self] in
            NetworkThread.shared.perform { [weak self] network in
                if let self { go(self, network) }
            }
        }
        if mayGoOn ?? true { go(self, network) }
    }

    /// Begins a wait for a value.
    /// - Returns: a closure that ends it, on any thread; once it was given up, nothing comes of that.
    func wait<Value: Sendable>(
        _ go: @escaping @Sendable (Exchange, Value, NetworkContext) -> Void
    ) -> @Sendable (Value) -> Void {
        let round = machine.wait()
        return { value in
            NetworkThread.shared.perform { network in
                guard self.machine.goesOn(in: round) else { return }
                go(self, value, network)
            }
        }
    }

    /// The same is asked again, after what is being done now.
    func startAgain() {
        wait { (exchange, _: Void, network) in exchange.prepare(network) }(())
    }
}

// MARK: - A transfer

extension Exchange {
    func startFromFirstHop(_ network: NetworkContext) {
        route.startOver()
        beginHop()
        prepare(network)
    }

    /// Goes through what has to be known before the next transfer, and starts it.
    func prepare(_ network: NetworkContext) {
        tick()
        if waitsForHost(network) {
            giveReservationUp(network)
            return tellRedirect()
        }
        // Nothing that may need a connection is waited for while one is reserved, or files are open.
        guard !waitsForToken(), !waitsForAdapters() else { return giveReservationUp(network) }
        guard machine.hasOpenSink || opensSink(network) else { return }
        guard !looksAtAnchors(), !readsCookies() else { return }
        start(network, with: cookies.take())
    }

    /// Whether the files of authorities have to be looked at first, since a redirect leads to TLS; then the
    /// transfer starts after that.
    private func looksAtAnchors() -> Bool {
        guard configuration.anchorVersions == nil, authentication.origin?.isTLS == true else { return false }
        let anchors = configuration.settings.trustAnchors
        guard !anchors.places.isEmpty else { return false }
        let go = wait { (exchange, versions: [FileVersion?], network) in
            exchange.configuration.anchorVersions = versions
            exchange.prepare(network)
        }
        DispatchQueue.global().async { go(anchors.fileVersions) }
        return true
    }

    func start(_ network: NetworkContext, with cookies: JarCookies?) {
        defer { giveReservationUp(network) }
        authenticateInAdvance(network)
        machine.forgetResponse()
        sideBody = Data()
        do {
            if let failure = sink.failure { throw failure }
            if resumption.isAtEnd(route.hop, held: sink.held) { _ = sink.goBack() }
            let asked = resumption.ask(route.hop, held: sink.held, because: sink.demand)
            guard asked != .nothing else {
                countKeptWhole()
                return finish()
            }
            guard !isAdaptedForAnother(asked) else {
                route.adapted = nil
                return startAgain()
            }
            let request = try transferRequest(asking: asked, cookies)
            let id = reservation.take() ?? .next()
            machine.start(id)
            if sink.tellsChanges || pieces != nil { listenToSink(of: id) }
            let runner = runner(network)
            lastRunner = runner
            runner.start(consume request, id: id, for: self)
            meters.hasLasted = runner !== network.transfers || !meters.log.isEmpty
            if meters.hasLasted {
                owner?.exchangeLasts()
            } else {
                network.transfers.tellLasting(id)
            }
            tellRedirect()
        } catch {
            fail(error)
        }
    }

    /// The runner of its transfers: the network, or the layers before it.
    func runner(_ network: NetworkContext) -> any TransferRunning {
        if let layers { return layers }
        guard !configuration.settings.layers.isEmpty else { return network.transfers }
        let made = configuration.settings.layers.fromNetwork.reduce(network.transfers as any TransferRunning)
        {
            next,
            layer in
            (layer as? any TransferLayering)?.layer(over: next) ?? next
        }
        layers = made
        return made
    }

    /// Others may have the connection, or the place in the line.
    func giveReservationUp(_ network: NetworkContext) {
        if let id = reservation.take() { runner(network).stop(id) }
    }

    private func tellRedirect() {
        guard let redirect = route.takeUntoldRedirect() else { return }
        owner?.exchangeDidFollow(redirect.response, to: redirect.request)
    }

    private func transferRequest(asking asked: ResumeRequest, _ cookies: JarCookies?) throws
        -> TransferRequest
    {
        var (question, body) = try route.takeQuestion(isAuthenticated: authentication.proof != nil)
        meters.beginRequest(body)
        if let method = asked.method { question.httpMethod = method }
        if route.field("Expect") == nil, authentication.asksForLeave(body) {
            question.setValue("100-continue", forHTTPHeaderField: "Expect")
        }
        var request = try configuration.transferRequest(
            for: question,
            at: authentication.origin,
            body: body,
            asking: asked,
            continues: resumption.asksForRest,
            cookies: cookies,
            authentication: authentication.proof,
            digest: authentication.digest,
            isAtHome: authentication.isAtHome,
            trusting: trustedServers
        )
        request.expiry = authentication.expiry
        request.retriedStatuses = attempts.retriedStatuses
        return request
    }

    private func listenToSink(of id: TransferID) {
        let onChange: @Sendable () -> Void = { [weak self] in
            NetworkThread.shared.perform { [weak self] network in self?.sinkDidChange(network, id) }
        }
        sink.onChange = onChange
        pieces?.onChange = onChange
    }

    private func sinkDidChange(_ network: NetworkContext, _ id: TransferID) {
        perform(machine.sinkChanged(id, takesMore: sink.failure == nil && sink.demand == nil), network)
    }
}

// MARK: - TransferClient

extension Exchange: TransferClient {
    var transferMustWait: Bool { machine.mustWait(sink.isFull || pieces?.isFull == true) }

    func transferDidReceive(_ head: ResponseHead) -> HeadAnswer {
        tick()
        // It may answer a part of the request's body, and end before there is a time to look.
        if meters.isUploading, let id = machine.transfer, let lastRunner {
            countUpload(lastRunner.sentCount(id))
        }
        let decision: Machine.Decision
        do {
            decision = askAboutResponse(try judge(head), head)
        } catch {
            decision = .goOn(.fail(error))
        }
        return act(on: decision)
    }

    func transferDidReceive(_ changes: CookieChanges) {
        store(changes)
    }

    func transferDidReceive(_ bytes: Span<UInt8>) throws {
        switch machine.take(bytes) {
        case .ignore:
            break
        case .write(let start, let new):
            try take(bytes.extracting(start...), countingFrom: new - start)
        case .keepAside(let count, let cuts):
            sideBody.append(bytes.extracting(..<count))
            if cuts { throw TransferError.refused }
        case .cut:
            throw TransferError.refused
        case .differs:
            machine.giveUp(for: overlapDiffers())
            throw TransferError.refused
        }
    }

    func transferDidComplete(_ end: TransferEnd) {
        let step = machine.transferEnded(end.id)
        if case .none = step { return }
        transferEnd = end
        meters.add(end)
        tick()
        perform(step)
    }

    /// The bytes from `start` on were not there before.
    private func take(_ bytes: Span<UInt8>, countingFrom start: Int) throws {
        if resumption.end != nil {
            let held = sink.count + Int64(bytes.count - start)
            if let error = resumption.lengthError(held: held, hasEnded: false, url: route.hopURL) {
                machine.giveUp(for: .fail(error))
                throw TransferError.refused
            }
        }
        try sink.write(bytes)
        guard start < bytes.count else { return }
        route.noteProgress()
        if let pieces {
            let new = bytes.extracting(start...)
            owner?.exchangeDidReceive(Data(new), done: pieces.append(new.count))
        }
        countDownload(bytes.count - start)
    }
}
