import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// One request's business with its server, across redirects, pauses and resumptions, until there is an end.
///
/// It is made on any thread, and then used on the network thread only. While a transfer runs it keeps its owner.
final class Exchange: @unchecked Sendable {
    // @unchecked: after init everything happens on the network thread, to which it is carried in closures.

    enum Phase {
        /// Not begun, or suspended.
        case idle
        case transferring(TransferID)
        /// Somebody else has the next word: the redirect closure, or a sink that writes its last bytes.
        case waiting
        /// It is decided how it ends; the sink still writes.
        case stopping(ExchangeEnd)
        case ended(ExchangeEnd)
    }

    /// What becomes of the body that is coming.
    private enum BodyUse {
        /// It goes to the sink.
        case deliver
        /// So many bytes are there already; what comes after them goes to the sink.
        case skip(Int64)
        /// It explains an error, or a redirect: it is kept aside, up to a limit.
        case keepAside
        /// Nobody needs it.
        case drop
    }

    let configuration: ExchangeConfiguration
    let sink: any ResponseSink
    private let pieces: PieceQueue?
    let clock = PassClock()
    var phase = Phase.idle
    var owner: (any ExchangeOwner)?
    /// Counts beginnings and stops: what was asked in an earlier one is not for this one.
    var round = 0

    var hop: URLRequest
    /// What reads the hop's body, if that is a stream.
    var streamedBody: RequestBody?
    var redirectCount = 0
    private var redirectHead: ResponseHead?
    private var bodyUse = BodyUse.deliver
    private var sideBody = Data()
    private var resumption: Resumption
    /// The failure behind a response that was refused by its head.
    private var refusal: (any Error)?
    /// The response was refused by its head, to ask again for the whole.
    private var asksForWhole = false

    var attempts: Attempts
    /// The response may be better the next time, which begins after so many seconds.
    private var retryDelay: TimeInterval?

    private var download = ProgressMeter()
    private var upload = ProgressMeter()
    private var metrics = TransferMetrics()

    init(_ configuration: ExchangeConfiguration) {
        self.configuration = configuration
        sink = configuration.makeSink()
        pieces = configuration.givesPieces ? PieceQueue() : nil
        hop = configuration.request
        streamedBody = configuration.body
        resumption = Resumption(isAllowed: configuration.resumesByRange)
        attempts = Attempts(policy: configuration.retryPolicy)
    }

    // MARK: - Commands

    /// Begins, or goes on after ``suspend()``.
    func begin(_ transfers: Transfers, for owner: any ExchangeOwner) {
        switch phase {
        case .ended(let end):
            owner.exchangeDidEnd(end)
        case .waiting, .stopping:
            // Its sink was writing the last bytes when it was suspended, and still is.
            self.owner = owner
        case .transferring:
            break
        case .idle:
            self.owner = owner
            clock.tick()
            attempts.begin(now: clock.now)
            startFromFirstHop(transfers)
        }
    }

    func startFromFirstHop(_ transfers: Transfers) {
        hop = configuration.request
        streamedBody = configuration.body
        redirectCount = 0
        startTransfer(transfers)
    }

    /// Stops the transfer; what came stays.
    func suspend(_ transfers: Transfers) {
        stopTransfer(transfers)
        owner = nil
    }

    /// Stops for good. The owner hears of the end, of an earlier one if there was one.
    func cancel(_ transfers: Transfers, for owner: any ExchangeOwner) {
        stopTransfer(transfers)
        if case .ended(let end) = phase { return owner.exchangeDidEnd(end) }
        self.owner = owner
        fail(URLError.cancelled(url: configuration.request.url))
    }

    private func stopTransfer(_ transfers: Transfers) {
        switch phase {
        case .transferring(let id):
            if let cost = transfers.stop(id) { metrics.add(cost) }
            phase = .idle
        case .waiting where redirectHead != nil:
            phase = .idle
        case .idle:
            // It may be about to ask again.
            break
        case .waiting, .stopping, .ended:
            // A sink that writes its last bytes is let finish: that end is as good as any.
            return
        }
        round += 1
        redirectHead = nil
    }

    // MARK: - A transfer

    func startTransfer(_ transfers: Transfers) {
        clock.tick()
        guard !waitsForHost(transfers) else { return }
        refusal = nil
        retryDelay = nil
        redirectHead = nil
        sideBody = Data()
        bodyUse = .drop
        do {
            if let failure = sink.failure { throw failure }
            asksForWhole = false
            let asked = resumption.ask(hop, held: sink.count)
            guard asked != .nothing else { return finish() }
            let request = try transferRequest(asking: asked)
            let id = TransferID.next()
            phase = .transferring(id)
            round += 1
            let onChange: @Sendable () -> Void = { [weak self] in
                NetworkThread.shared.perform { [weak self] transfers in self?.sinkDidChange(transfers, id) }
            }
            sink.onChange = onChange
            pieces?.onChange = onChange
            transfers.start(request, id: id, for: self)
        } catch {
            fail(error)
        }
    }

    private func transferRequest(asking asked: ResumeRequest) throws -> TransferRequest {
        let body = try body()
        if let body {
            upload.restart(at: 0)
            upload.expected = body.length ?? -1
        }
        return try configuration.transferRequest(
            for: hop,
            body: body,
            asking: asked,
            continues: resumption.asksForRest
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

    private func sinkDidChange(_ transfers: Transfers, _ id: TransferID) {
        guard case .transferring(id) = phase else { return }
        guard let failure = sink.failure else { return transfers.resumeReceiving(id) }
        if let cost = transfers.stop(id) { metrics.add(cost) }
        fail(failure)
    }
}

// MARK: - Heads

extension Exchange {
    /// Decides what the body is good for, before its first byte.
    private func judge(_ head: ResponseHead) throws -> HeadAnswer {
        if RedirectPolicy.isRedirect(head) {
            redirectHead = head
            bodyUse = .keepAside
            return .receive
        }
        switch resumption.judge(head, held: sink.count, canRewind: sink.canBeEmptied) {
        case .append(let total):
            metrics.bytesKept += sink.count
            try deliver(head, from: sink.count, expecting: total)
        case .replace(let total):
            if sink.count > 0 { try sink.empty() }
            try deliver(head, from: 0, expecting: total)
        case .skip(let count, let total):
            try deliver(head, from: count, expecting: total)
            bodyUse = .skip(count)
        case .deliver:
            if let delay = retryDelay(after: head) {
                retryDelay = delay
                bodyUse = .drop
            } else {
                tell(head)
                bodyUse = .keepAside
            }
        case .alreadyComplete:
            // Every byte of one representation is here, all validated by it: there is nothing to confirm.
            bodyUse = .drop
        case .restartWithoutRange:
            asksForWhole = true
            return .refuse
        case .fail(let error):
            refusal = error
            return .refuse
        }
        return .receive
    }

    private func deliver(_ head: ResponseHead, from offset: Int64, expecting total: Int64?) throws {
        tell(head)
        download.restart(at: offset)
        download.expected = total ?? -1
        owner?.exchangeWillReceiveBody(at: offset, length: download.expected)
        bodyUse = .deliver
        try sink.prepare(expecting: hop.httpMethod == "HEAD" ? nil : total)
    }

    func tell(_ head: ResponseHead) {
        guard let url = hop.url, let response = head.response(for: url) else { return }
        owner?.exchangeDidReceive(response)
    }
}

// MARK: - TransferClient

extension Exchange: TransferClient {
    var transferMustWait: Bool { sink.isFull || pieces?.isFull == true }

    func transferDidReceive(_ head: ResponseHead) -> HeadAnswer {
        clock.tick()
        do {
            return try judge(head)
        } catch {
            refusal = error
            return .refuse
        }
    }

    func transferDidReceive(_ bytes: Span<UInt8>) throws {
        switch bodyUse {
        case .deliver:
            try take(bytes)
        case .skip(let left):
            let skipped = Int(min(left, Int64(bytes.count)))
            bodyUse = left > Int64(skipped) ? .skip(left - Int64(skipped)) : .deliver
            guard skipped < bytes.count else { return }
            try take(bytes.extracting(skipped...))
        case .keepAside:
            let room = Int(max(0, configuration.sideBodyLimit - Int64(sideBody.count)))
            sideBody.append(bytes.extracting(..<min(room, bytes.count)))
        case .drop:
            break
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
        metrics.add(end.metrics)
        clock.tick()
        if let retryDelay {
            // However its body ended.
            tryAgain(after: retryDelay)
        } else if asksForWhole {
            startAgain()
        } else if let refusal {
            fail(refusal)
        } else if let error = end.error {
            tryAgain(after: error.error(for: hop.url ?? URL(fileURLWithPath: "/")))
        } else if let redirectHead {
            follow(redirectHead)
        } else if case .skip = bodyUse {
            // It ended before the bytes that are there already.
            fail(ResumeError.representationChanged)
        } else if case .deliver = bodyUse, resumption.isShort(held: sink.count) {
            guard resumption.goesOn(afterReceiving: end.metrics.bytesReceived) else {
                return fail(ResumeError.representationChanged)
            }
            startAgain()
        } else {
            finish()
        }
    }

    private func startAgain() {
        phase = .idle
        NetworkThread.shared.perform { [round] transfers in
            guard self.round == round, case .idle = self.phase else { return }
            self.startTransfer(transfers)
        }
    }

    private func take(_ bytes: Span<UInt8>) throws {
        try sink.write(bytes)
        if let pieces {
            owner?.exchangeDidReceive(Data(bytes), done: pieces.append(bytes.count))
        }
        count(bytes.count)
    }

    private func count(_ bytes: Int) {
        clock.tick()
        guard let report = download.add(bytes, now: clock.now) else { return }
        owner?.exchangeDidDownload(report)
    }
}

// MARK: - The end

extension Exchange {
    func finish() {
        phase = .waiting
        redirectHead = nil
        if let report = download.finish(now: clock.now) { owner?.exchangeDidDownload(report) }
        if let report = upload.finish(now: clock.now) { owner?.exchangeDidUpload(report) }
        if case .keepAside = bodyUse {
            return stop(ExchangeEnd(error: nil, data: sideBody, metrics: metrics))
        }
        sink.end { result in
            NetworkThread.shared.perform { _ in self.sinkDidEnd(result) }
        }
    }

    private func sinkDidEnd(_ result: Result<Data?, any Error>) {
        // It may have been cancelled meanwhile.
        guard case .waiting = phase else { return }
        switch result {
        case .success(let data): end(ExchangeEnd(error: nil, data: data, metrics: metrics))
        case .failure(let error): fail(error)
        }
    }

    func fail(_ error: any Error) {
        // A cancel that comes while the sink stops has nothing to add.
        if case .stopping = phase { return }
        if let report = download.finish(now: clock.now) { owner?.exchangeDidDownload(report) }
        let data: Data? = if case .keepAside = bodyUse { sideBody } else { nil }
        stop(ExchangeEnd(error: error, data: data, metrics: metrics))
    }

    /// Ends when nobody writes to the destination any more.
    private func stop(_ decided: ExchangeEnd) {
        phase = .stopping(decided)
        let stop = sink.abandon { NetworkThread.shared.perform { _ in self.sinkDidStop() } }
        guard case .stopped(let kept) = stop else { return }
        var decided = decided
        decided.data = decided.data ?? kept
        end(decided)
    }

    private func sinkDidStop() {
        guard case .stopping(let decided) = phase else { return }
        end(decided)
    }

    private func end(_ end: ExchangeEnd) {
        phase = .ended(end)
        sink.onChange = nil
        let owner = owner
        self.owner = nil
        owner?.exchangeDidEnd(end)
    }
}
