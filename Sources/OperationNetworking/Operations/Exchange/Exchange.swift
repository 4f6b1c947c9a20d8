import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The exchange of one request with its server, across redirects, pauses and resumptions, until it ends.
///
/// It performs what ``ExchangeMachine`` decides. It can be created on any thread, under the operation's lock,
/// and is then used only on the network thread. While a transfer runs, it retains its owner.
///
/// The values that decide about a request meet here, one property each.
final class Exchange: @unchecked Sendable {
    // @unchecked: after init everything happens on the network thread, to which it is carried in closures.

    typealias Machine = ExchangeMachine<ExchangeNext, ExchangeEnd>

    let configuration: ExchangeConfiguration
    /// See ``ExchangeConfiguration/anchorVersions``; `nil` again after a pause.
    @safe @exclusivity(unchecked) private var anchorVersions: [FileVersion?]?
    let sink: any ResponseSink
    private let pieces: PieceQueue?
    /// The time, read once for each event.
    @safe @exclusivity(unchecked) private(set) var now = MonotonicTime.now
    @safe @exclusivity(unchecked) var machine = Machine()
    /// The layers in front of the network, once they have been made.
    @safe @exclusivity(unchecked) private var layers: (any TransferRunning)?
    /// The runner of the last transfer.
    @safe @exclusivity(unchecked) private weak var lastRunner: (any TransferRunning)?
    @safe @exclusivity(unchecked) var owner: (any ExchangeOwner)?
    /// The owner's lap, set by the last ``begin(_:for:in:)``.
    @safe @exclusivity(unchecked) private(set) var lap = 0

    @safe @exclusivity(unchecked) var route: ExchangeRoute
    @safe @exclusivity(unchecked) var cookies: CookieWork
    @safe @exclusivity(unchecked) var authentication: Authentication
    /// The servers that the challenge closure trusts although the policy does not.
    var trustedServers: Set<TrustException> = []
    /// Cancels the task of the challenge closure, the adapters or the network wait, whose answer is no longer
    /// awaited.
    var cancelPending: (@Sendable () -> Void)?
    @safe @exclusivity(unchecked) var resumption: Resumption
    @safe @exclusivity(unchecked) var attempts: Attempts
    @safe @exclusivity(unchecked) var totalTime: TotalTime

    /// The connection that is reserved, or waited for, before the transfer's request is known.
    @safe @exclusivity(unchecked) var reservation: TransferID?
    /// The end of the last transfer.
    @safe @exclusivity(unchecked) private var transferEnd: TransferEnd?
    /// The bytes of the body that were buffered separately.
    @safe @exclusivity(unchecked) var sideBody = Data()
    /// The sink's files, from its last byte until it has closed them.
    var closingFiles: CountedFiles?
    @safe @exclusivity(unchecked) var meters = ExchangeMeters()

    /// - Parameters:
    ///   - configuration: the request, its destination and settings.
    ///   - cookies: the cookies for the first hop, if they have already been read.
    ///   - earlier: the bytes received by an earlier exchange.
    init(
        _ configuration: consuming ExchangeConfiguration,
        cookies: CookieReading = .notYet,
        continuing earlier: EarlierBody? = nil
    ) {
        sink = configuration.makeSink(with: earlier?.data ?? Data())
        pieces = configuration.givesPieces ? PieceQueue() : nil
        route = ExchangeRoute(configuration.request, body: configuration.body)
        resumption = Resumption(isAllowed: configuration.resumesByRange, overlap: configuration.overlap)
        attempts = Attempts(policy: configuration.settings.retryPolicy)
        totalTime = TotalTime(limit: configuration.settings.timeouts.total)
        self.cookies = CookieWork(cookies)
        authentication = Authentication(configuration.shared, for: route.requestURL)
        anchorVersions = configuration.anchorVersions
        self.configuration = configuration
        if let earlier, sink.count > 0 { resumption.take(earlier.content) }
    }

    // MARK: - Commands

    func tick() {
        now = .now
    }

    /// Begins, or resumes after ``suspend(_:)``. An end that happened in between is reported again. `lap` is
    /// passed to the owner with each wait.
    func begin(_ network: NetworkContext, for owner: any ExchangeOwner, in lap: Int) {
        self.owner = owner
        self.lap = lap
        tick()
        // Here, for a command of the user, and not at each start: otherwise attempts would follow one another
        // forever on a full disk.
        sink.proceed()
        if !machine.isDecided { startTotalTime() }
        perform(machine.begin(), network)
        // A first transfer reports by itself when it lasts.
        if !machine.isTransferring || !meters.log.isEmpty { self.owner?.exchangeLasts() }
        scheduleProgress()
    }

    /// Stops the transfer, or holds it if it could not be resumed; the received bytes are kept. The owner is
    /// not called until ``begin(_:for:in:)``.
    func suspend(_ network: NetworkContext) {
        perform(machine.suspend(sink.failure == nil && cannotResume), network)
        tick()
        totalTime.stop(now: now)
        // It may be days until the exchange resumes: the trusted authorities and the user may have changed.
        anchorVersions = nil
        cookies.forget()
        owner = nil
    }

    /// Stops permanently. The end is reported to the owner: the earlier one, if there was one.
    func cancel(_ network: NetworkContext, for owner: any ExchangeOwner) {
        self.owner = owner
        perform(machine.cancel(), network)
        fail(URLError.cancelled(url: configuration.request.url))
    }

    /// Stops a held transfer: the operation that suspended the exchange has been released.
    func drop(_ network: NetworkContext) {
        if let stop = machine.drop() { perform(stop, network) }
    }

    /// The bytes received so far, if they are in memory and another exchange can request the rest.
    func bodySoFar(_ network: NetworkContext) -> EarlierBody? {
        let held = sink.held
        // An archive does not contain the servers that the closure trusted.
        guard ResumeRequest.mayContinue(configuration.request), trustedServers.isEmpty,
            resumption.canComeAgain(route.hop, held: held),
            let data = sink.bytesInMemory, let content = resumption.content(of: held)
        else { return nil }
        return EarlierBody(data, content)
    }

    /// Whether the held bytes can be neither taken back nor resumed: they have gone to a caller's stream, a
    /// FIFO or a terminal, and there is no strong validator for them.
    var cannotResume: Bool {
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
        case .cancelReceiving(let id):
            runner(network).cancelReceiving(id)
        case .restart(let id):
            perform(Machine.Stop(transfer: id), network)
            // If there is no reason to start over, the sink has failed, which is detected before the next
            // transfer.
            perform(sink.demand.map(requestWhole) ?? .again)
        case .processEnd:
            if let transferEnd { perform(machine.transferEnded(transferEnd.id)) }
        case .then(let step):
            perform(step)
        }
    }

    func perform(_ step: Machine.Step) {
        switch step {
        case .none, .keepEnd: break
        case .judgeEnd: if let transferEnd { judge(transferEnd) }
        case .proceed(let next): perform(next)
        case .startAgain: startAgain()
        case .report(let end): report(end)
        }
    }

    func perform(_ stop: Machine.Stop, _ network: NetworkContext) {
        cancelReservation(network)
        if let id = stop.transfer {
            if let cost = runner(network).stop(id) { meters.log.add(cost) }
            sink.flush()
        }
        cancelPending?()
        cancelPending = nil
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

    /// Begins a wait for code of the app, or for a delay. The owner lends its slot during the wait, which
    /// lasts until the owner has a slot again.
    /// - Returns: a closure that ends the wait, on any thread; it has no effect once the wait was abandoned.
    func waitWithoutSlot<Value: Sendable>(
        _ reason: ExchangeWait,
        _ go: @escaping @Sendable (Exchange, Value, NetworkContext) -> Void
    ) -> @Sendable (Value) -> Void {
        let round = machine.wait()
        owner?.exchangeWaits(reason, in: lap)
        return { [weak self] value in
            NetworkThread.shared.perform { [weak self] network in
                guard let self, machine.isWaiting(in: round) else { return }
                takeSlot(network) { exchange, network in
                    guard exchange.machine.endWait(in: round) else { return }
                    go(exchange, value, network)
                }
            }
        }
    }

    /// Calls `go` once the owner has a slot again: now, or later on the network thread.
    func takeSlot(_ network: NetworkContext, then go: @escaping @Sendable (Exchange, NetworkContext) -> Void)
    {
        let mayContinue = owner?.exchangeMayContinue(in: lap) { [weak self] in
            NetworkThread.shared.perform { [weak self] network in
                if let self { go(self, network) }
            }
        }
        if mayContinue ?? true { go(self, network) }
    }

    /// Begins a wait for a value.
    /// - Returns: a closure that ends the wait, on any thread; it has no effect once the wait was abandoned.
    func wait<Value: Sendable>(
        _ go: @escaping @Sendable (Exchange, Value, NetworkContext) -> Void
    ) -> @Sendable (Value) -> Void {
        let round = machine.wait()
        return { value in
            NetworkThread.shared.perform { network in
                guard self.machine.endWait(in: round) else { return }
                go(self, value, network)
            }
        }
    }

    /// Repeats the request, after the current event has been handled.
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

    /// Gathers everything that the next transfer needs, and starts it.
    func prepare(_ network: NetworkContext) {
        tick()
        if waitsForHost(network) {
            cancelReservation(network)
            return reportRedirect()
        }
        // While a connection is reserved or files are open, nothing that may need a connection is waited for.
        guard !waitsForToken(), !waitsForAdapters() else { return cancelReservation(network) }
        guard machine.hasOpenSink || opensSink(network) else { return }
        guard !looksAtAnchors(), !readsCookies() else { return }
        start(network, with: cookies.take())
    }

    /// Reads the versions of the certificate authority files if a redirect leads to TLS. Returns whether the
    /// transfer has to wait for them.
    private func looksAtAnchors() -> Bool {
        guard anchorVersions == nil, authentication.origin?.isTLS == true else { return false }
        let anchors = configuration.settings.trustAnchors
        guard !anchors.places.isEmpty else { return false }
        let go = wait { (exchange, versions: [FileVersion?], network) in
            exchange.anchorVersions = versions
            exchange.prepare(network)
        }
        DispatchQueue.global().async { go(anchors.fileVersions) }
        return true
    }

    func start(_ network: NetworkContext, with cookies: JarCookies?) {
        defer { cancelReservation(network) }
        authenticateInAdvance(network)
        machine.forgetResponse()
        sideBody = Data()
        do {
            if let failure = sink.failure { throw failure }
            if sink.count > 0, resumption.isAtEnd(route.hop, held: sink.held) { _ = sink.goBack() }
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
            meters.hasLasted = !meters.log.isEmpty
            if meters.hasLasted { owner?.exchangeLasts() }
            runner.start(consume request, id: id, for: self)
            // A layer reports it itself, if it does not answer at once.
            if !meters.hasLasted, runner === network.transfers { network.transfers.reportWhenLasting(id) }
            reportRedirect()
        } catch {
            fail(error)
        }
    }

    /// The runner of the exchange's transfers: the network, or the layers in front of it.
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

    /// Releases the reserved connection, or the place in the line.
    func cancelReservation(_ network: NetworkContext) {
        if let id = reservation.take() { runner(network).stop(id) }
    }

    private func reportRedirect() {
        guard let redirect = route.takePendingRedirect() else { return }
        owner?.exchangeDidFollow(redirect.response, to: redirect.request)
    }

    private func transferRequest(asking asked: ResumeRequest, _ cookies: JarCookies?) throws
        -> TransferRequest
    {
        let (taken, left) = try route.takeRequest(isAuthenticated: authentication.proof != nil)
        // Not within the route: a closure of the caller's may provide the stream.
        let body = left?.fromStart()
        guard left == nil || body != nil else { throw route.unsentBody }
        meters.beginRequest(body)
        var hopRequest = taken
        if let method = asked.method { hopRequest.httpMethod = method }
        if route.field("Expect") == nil, authentication.expectsContinue(body) {
            hopRequest.setValue("100-continue", forHTTPHeaderField: "Expect")
        }
        return try configuration.transferRequest(
            for: hopRequest,
            at: route.sentAddress,
            body: body,
            asking: asked,
            continues: resumption.asksForRest,
            cookies: cookies,
            authentication: authentication.proof,
            digest: authentication.digest,
            isAtHome: authentication.isAtHome,
            trusting: trustedServers,
            anchorVersions: anchorVersions,
            expiry: authentication.expiry,
            retriedStatuses: attempts.retriedStatuses
        )
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
        // The head may answer a partly sent body, and the transfer may end before the next look at its
        // upload.
        if meters.isUploading, let id = machine.transfer, let lastRunner {
            countUpload(lastRunner.sentCount(id))
        }
        let decision: Machine.Decision
        do {
            decision = askAboutResponse(try judge(head), head)
        } catch {
            decision = .proceed(.fail(error))
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
        case .bufferSeparately(let count, let cuts):
            sideBody.append(bytes.extracting(..<count))
            if cuts { throw TransferError.refused }
        case .cut:
            throw TransferError.refused
        case .differs:
            machine.abandonBody(for: overlapDiffers())
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

    /// Takes bytes, of which those from `start` on are new.
    private func take(_ bytes: Span<UInt8>, countingFrom start: Int) throws {
        if resumption.end != nil {
            let held = sink.count + Int64(bytes.count - start)
            if let error = resumption.lengthError(held: held, hasEnded: false, url: route.hopURL) {
                machine.abandonBody(for: .fail(error))
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
