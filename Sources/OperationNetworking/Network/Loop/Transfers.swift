import Foundation
internal import OperationNetworkingSystem

/// All transfers of the process. Only lent, by ``NetworkThread/perform(isUrgent:_:)``, on the network thread.
///
/// libcurl is entered only in `drive`. Nothing here may be called inside a libcurl callback; a precondition
/// checks that, because most libcurl calls would return `CURLM_RECURSIVE_API_CALL`.
final class Transfers: TransferRunning {
    /// The maximum number of starts per pass. More would hold up everything else.
    private static let startsPerPass = 128

    private let owner = ThreadIdentity.current
    /// Runs work on the network thread after everything already posted; callable from any thread.
    private let post: @Sendable (@escaping @Sendable (Transfers) -> Void) -> Void
    private let poller = SocketPoller()
    /// Why nothing can be transferred: the process has too few descriptors left.
    @safe @exclusivity(unchecked) private var obstacle: SystemError?
    let clock: PassClock
    @safe @exclusivity(unchecked) private var domains = TransferDomains()
    @safe @exclusivity(unchecked) private var parts = SharedParts()
    @safe @exclusivity(unchecked) var admission = Admission()
    @safe @exclusivity(unchecked) var descriptors = DescriptorBudget()
    @safe @exclusivity(unchecked) private var waiting = TransferTable<Waiting>()
    /// The admitted reservations whose request has not arrived yet.
    @safe @exclusivity(unchecked)
    private var admitted = TransferTable<(place: TransferPlace, rank: WaitingRank)>()
    @safe @exclusivity(unchecked) var running = RunningTransfers()
    @safe @exclusivity(unchecked) private var versions = KnownVersions()
    @safe @exclusivity(unchecked) var alarms = TransferAlarms()
    /// The ends that have not been reported to their clients.
    @safe @exclusivity(unchecked) private var ended = Fifo<(end: TransferEnd, client: any TransferClient)>()
    /// The transfers that were stopped after they had ended, but before that was reported to their clients.
    @safe @exclusivity(unchecked) private var silenced: Set<TransferID> = []
    private(set) var isInsideCurl = false

    private enum Waiting {
        case start(TransferStart)
        case reservation(TransferPlace, WaitingRank, whenAdmitted: @Sendable () -> Void)

        var client: (any TransferClient)? {
            if case .start(let start) = self { start.client } else { nil }
        }

        var holdsFiles: Bool {
            if case .start(let start) = self { start.request.holdsFiles } else { false }
        }
    }

    /// - Parameters:
    ///   - isAwaited: whether another thread waits for the end of the pass.
    ///   - post: see the property.
    init(
        isAwaited: @escaping () -> Bool,
        post: @escaping @Sendable (@escaping @Sendable (Transfers) -> Void) -> Void
    ) {
        clock = PassClock(isAwaited: isAwaited)
        self.post = post
        ConnectionLimit.observe { post { $0.admission.limitsDidChange() } }
    }

    /// Opens the descriptors. Until this succeeds, each transfer fails with the reason why it did not.
    /// - Throws: `SystemError` if the process has too few descriptors left for this and for the thread's run
    ///   loop.
    func open() throws(SystemError) {
        checkThread()
        do throws(SystemError) {
            try poller.open()
            try RunLoopThread.checkDescriptors(with: poller.descriptor)
            obstacle = nil
        } catch {
            obstacle = error
            throw error
        }
    }

    /// Readable when a socket of any transfer is ready, and once for each signal of ``wakeDescriptor``.
    var descriptor: Int32 { poller.descriptor }

    /// Requests a pass, from any thread; `nil` before ``open()``.
    var wakeDescriptor: WakeDescriptor? { poller.wakeDescriptor }

    /// Whether a download waits in the line with its files open.
    var waitsWithFiles: Bool { waiting.contains(where: \.holdsFiles) }

    /// The number of transfers that have started and not ended.
    var count: Int {
        checkThread()
        return waiting.count + running.count
    }

    // MARK: - Commands

    func start(_ request: consuming TransferRequest, id: TransferID, for client: any TransferClient) {
        checkThread()
        clock.tick()
        if let obstacle {
            return didEnd(id, .cannotStart(obstacle), for: client)
        }
        versions.decide(&request, id: id)
        guard let (place, rank) = admitted.remove(id) else {
            return enqueue(consume request, id, client)
        }
        guard place == TransferPlace(request) else {
            admission.remove(id)
            return enqueue(consume request, id, client, rank: rank)
        }
        begin(TransferStart(consume request, for: client, rank: rank), id)
    }

    func reserve(
        _ reservation: Reservation,
        whenAdmitted: @escaping @Sendable () -> Void
    ) throws(TransferError) {
        checkThread()
        if let obstacle { throw .cannotStart(obstacle) }
        let (id, place) = (reservation.id, reservation.place)
        let rank = admission.append(
            id,
            to: place,
            priority: reservation.priority,
            raisedLimit: reservation.raisedConnectionLimit
        )
        waiting[id] = .reservation(place, rank, whenAdmitted: whenAdmitted)
    }

    /// Calls the client's ``TransferClient/transferLasts()`` after a moment, unless the transfer has ended
    /// before.
    func reportWhenLasting(_ id: TransferID) {
        alarms.watchYouth(of: id, since: clock.now)
    }

    private func reportLasting() {
        while let id = alarms.nextLasting(now: clock.now) {
            (running[id]?.transfer.client ?? waiting[id]?.client)?.transferLasts()
        }
    }

    private func enqueue(
        _ request: consuming TransferRequest,
        _ id: TransferID,
        _ client: any TransferClient,
        spent: TransferMetrics = TransferMetrics(),
        rank: WaitingRank? = nil
    ) {
        let rank = admission.append(
            id,
            to: TransferPlace(request),
            priority: request.priority,
            raisedLimit: request.shared.value.raisedConnectionLimit,
            rank: rank
        )
        waiting[id] = .start(TransferStart(consume request, for: client, spent: spent, rank: rank))
    }

    @discardableResult
    func stop(_ id: TransferID) -> TransferMetrics? {
        checkThread()
        // The transfer may already be gone: it can end on this thread between the call to stop and now.
        guard let transfer = running[id]?.transfer else {
            if waiting.remove(id) != nil || admitted.remove(id) != nil {
                admission.remove(id)
            } else if !ended.isEmpty {
                silenced.insert(id)
            }
            return nil
        }
        let metrics = transfer.metrics
        remove(id)
        return metrics
    }

    func cancelReceiving(_ id: TransferID) {
        checkThread()
        guard let transfer = running[id]?.transfer else { return }
        end(transfer, .refused)
    }

    func resumeReceiving(_ id: TransferID) {
        checkThread()
        guard let transfer = running[id]?.transfer else { return }
        guard let failure = drive({ transfer.resumeReceiving() }) else { return }
        end(transfer, failure)
    }

    func receive(_ id: TransferID) {
        checkThread()
        guard let transfer = running[id]?.transfer else { return }
        guard let failure = drive({ transfer.receive() }) else { return }
        end(transfer, failure)
    }

    func sentCount(_ id: TransferID) -> Int64 {
        checkThread()
        guard let running = running[id], running.transfer.request.body != nil else { return 0 }
        let transfer = running.transfer
        return running.domain.unacknowledged(of: transfer.easy).map {
            transfer.sentCount(unacknowledged: $0)
        } ?? 0
    }

    // MARK: - Driving

    /// Transfers everything that can be transferred now, once.
    /// - Returns: whether something may be left that no socket will report again. See also ``hasWork``.
    func pass() -> Bool {
        checkThread()
        clock.tick()
        admit()
        resumeHeld()
        let ready = drive {
            for domain in domains.all { domain.timeOut(now: clock.now) }
            return poller.poll { number, socket, events in domains[number]?.act(on: socket, events) }
        }
        collectFinished()
        stopIdle()
        checkStalled()
        reportLasting()
        alarms.forget(keeping: running, isAlone: count == 0)
        return ready > 0 && poller.hasMore()
            || domains.all.contains { $0.deadline.map { $0 <= clock.now } ?? false }
    }

    /// Whether the last ``pass()`` used up a signal of ``wakeDescriptor``.
    var wasWoken: Bool { poller.wasWoken }

    /// Whether there are ends to report, or transfers that may start.
    var hasWork: Bool {
        !ended.isEmpty || admission.mayHaveNext && !descriptors.isShort
    }

    /// Returns the next end to report to its client, which may start a transfer or run the run loop.
    func nextEnd() -> (end: TransferEnd, client: any TransferClient)? {
        while let next = ended.popFirst() {
            if silenced.isEmpty || silenced.remove(next.end.id) == nil { return next }
        }
        silenced.removeAll()
        return nil
    }

    /// The time at which ``pass()`` has something to do even if no socket is ready.
    var nextDeadline: MonotonicTime? {
        let own = [alarms.next, descriptors.nextLook]
        return (domains.all.map(\.deadline) + own).compactMap(\.self).min()
    }

    func drive<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        precondition(!isInsideCurl, "libcurl was entered from within one of its callbacks")
        isInsideCurl = true
        defer { isInsideCurl = false }
        return try body()
    }

    /// Starts the next few transfers, with a turn of libcurl in between, since those that find a connection
    /// make room.
    private func admit() {
        var left = Self.startsPerPass
        descriptors.beginPass()
        while left > 0, let id = nextAdmitted() {
            left -= 1
            begin(id)
            while left > 0, let id = nextAdmitted() {
                left -= 1
                begin(id)
            }
            guard admission.waitingCount > 0 else { return }
            drive { for domain in domains.all { domain.timeOut(now: clock.now) } }
        }
    }

    private func nextAdmitted() -> TransferID? {
        guard admission.mayHaveNext else { return nil }
        let mayStart = descriptors.allowStart(
            now: clock.now,
            othersFreeSome: freesDescriptors,
            expected: admission.startingCount * DescriptorBudget.perStart
                + admitted.count * DescriptorBudget.perFile + running.expectedFiles,
            in: &domains
        )
        return mayStart ? admission.next() : nil
    }

    private func begin(_ id: TransferID) {
        switch waiting.remove(id) {
        case nil:
            admission.remove(id)
        case .start(let start)?:
            guard !start.request.hasExpired else {
                admission.remove(id)
                return didEnd(id, .expired, start.spent, for: start.client)
            }
            descriptors.take(start.request.fileCount)
            begin(start.withNewCookies(), id)
        case .reservation(let place, let rank, let whenAdmitted)?:
            descriptors.take(DescriptorBudget.perFile)
            admitted[id] = (place, rank)
            whenAdmitted()
        }
    }

    private func begin(_ start: TransferStart, _ id: TransferID) {
        do throws(CurlError) {
            let (number, domain) = try domains.takeForTransfer(start.request.trustDomain) {
                (number) throws(CurlError) in try makeDomain(number)
            }
            do throws(CurlError) {
                try begin(start, id, in: domain, number)
            } catch {
                domains.didEndTransfer(in: number)
                throw error
            }
        } catch {
            admission.remove(id)
            didEnd(id, .curl(error), for: start.client)
        }
    }

    private func begin(
        _ start: TransferStart,
        _ id: TransferID,
        in domain: TransferDomain,
        _ number: UInt32
    ) throws(CurlError) {
        let examination = start.request.makeExamination()
        let options = start.request.options(examination, demand: domain.demand)
        let easy = try domain.handle(for: options)
        var bodyIsReady: @Sendable () -> Void = {}
        if start.request.body != nil { bodyIsReady = { [post] in post { $0.resumeSending(id) } } }
        let context = TransferContext(
            clock: clock,
            since: clock.now,
            demand: domain.demand,
            bodyIsReady: bodyIsReady
        )
        let transfer = Transfer(
            id: id,
            start: start,
            easy: easy,
            examination: examination,
            context: context,
            delegate: self
        )
        do throws(CurlError) {
            let url = parts.url(options.url)
            let fields = try parts.fields(options.headerLines, octetLine: options.octetLine)
            try easy.prepare(options, url: url, fields: fields, delegate: transfer)
            if transfer.request.usesTunnel { easy.reportProgress() }
            try drive { () throws(CurlError) in try domain.add(easy) }
        } catch {
            // The handle and the transfer retain each other.
            easy.releaseDelegate()
            throw error
        }
        easy.tag = id.tag
        running.insert(RunningTransfer(transfer, in: domain, number))
        alarms.watchIdleness(of: id, since: clock.now, timeout: transfer.request.idleTimeout)
    }

    private func collectFinished() {
        for domain in Array(domains.all) {
            while let (easy, code) = domain.nextFinished() {
                guard let finished = running[easy] else { continue }
                let transfer = finished.transfer
                let end = transfer.end(code: code)
                domain.learn(transfer.proxyEvidence)
                remove(transfer.id, hasFailed: !end.isSentBack)
                versions.learn(
                    transfer.request,
                    end.error,
                    chosen: transfer.connection.chosenProtocol,
                    hasHead: !transfer.heads.isEmpty
                )
                guard let next = nextRequest(transfer, after: end) else {
                    ended.append((end, transfer.client))
                    if end.error == nil { domain.takeBack(easy) }
                    continue
                }
                guard let again = transfer.fromStart(next) else {
                    ended.append((transfer.end(.bodyNotRepeatable), transfer.client))
                    continue
                }
                // Without descriptors it goes to the end of the line: another one may be about to free some.
                let rank = lacksDescriptors(transfer, end) ? nil : transfer.start.rank
                enqueue(again, transfer.id, transfer.client, spent: end.metrics, rank: rank)
            }
        }
    }

    /// Returns the request that repeats a failed one, perhaps in another way. No byte has been delivered.
    private func nextRequest(_ transfer: Transfer, after end: TransferEnd) -> TransferRequest? {
        guard let error = end.error else { return nil }
        if lacksDescriptors(transfer, end) { return mayWaitForDescriptors() ? transfer.request : nil }
        guard var next = versions.next(transfer.request, after: error, id: transfer.id) else {
            return nil
        }
        versions.decide(&next, id: transfer.id)
        return next
    }

    private func lacksDescriptors(_ transfer: Transfer, _ end: TransferEnd) -> Bool {
        guard case .curl(let error)? = end.error else { return false }
        return error.hasNoDescriptors && !transfer.connection.isThere
    }

    private func stopIdle() {
        while let id = alarms.nextIdle(now: clock.now) {
            if let running = running[id] {
                let transfer = running.transfer
                let next = transfer.nextLook(after: clock.now) {
                    running.domain.socketMovement(of: transfer.easy)
                }
                if let next {
                    alarms.lookAgain(at: id, next)
                } else {
                    end(transfer, transfer.idleError)
                }
            }
        }
    }

    func end(_ transfer: Transfer, _ error: TransferError) {
        let end = transfer.end(error, sent: sentCount(transfer.id))
        remove(transfer.id, hasFailed: true)
        ended.append((end, transfer.client))
    }

    /// Ends a transfer that was never begun.
    private func didEnd(
        _ id: TransferID,
        _ error: TransferError,
        _ spent: TransferMetrics = TransferMetrics(),
        for client: any TransferClient
    ) {
        ended.append((TransferEnd(id: id, error: error, metrics: spent), client))
    }

    private func remove(_ id: TransferID, hasFailed: Bool = false) {
        guard let ended = running.remove(id) else { return }
        drive { ended.domain.remove(ended.transfer.easy) }
        domains.didEndTransfer(in: ended.domainNumber)
        ended.transfer.stopSending()
        admission.remove(id, hasFailed: hasFailed)
    }

    private func makeDomain(_ number: UInt32) throws(CurlError) -> TransferDomain {
        let poller = poller
        return try TransferDomain(
            clock: clock,
            maximumIdleConnections: descriptors.idleConnections,
            didChangeSocket: { socket, interest in
                switch interest {
                case .watch(let events):
                    // This fails only for a closed descriptor, which libcurl detects itself.
                    try? poller.watch(socket, for: events, token: number)
                case .forget:
                    poller.forget(socket)
                }
            }
        )
    }

    func checkThread() {
        precondition(owner.isCurrent, "Transfers were used off the network thread")
    }
}

extension Transfers: TransferDelegate {
    func transfer(_ id: TransferID, didConnectTo connection: ConnectionID, mayGoBack: Bool) -> Bool {
        admission.didConnect(id, to: connection, mayGoBack: mayGoBack)
    }

    func transferDidStall(_ id: TransferID) {
        watch(id)
    }

    func transferDidResume(_ id: TransferID) {
        admission.didResume(id)
    }

    func transfer(_ id: TransferID, mustWaitUntil moment: MonotonicTime) {
        alarms.hold(id, until: moment)
    }
}
