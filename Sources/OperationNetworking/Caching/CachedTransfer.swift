import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// One transfer with a cache before it, from the look at what is stored to the end that its client is notified of.
///
/// | Phase     | What goes on                                      | Next                         |
/// |-----------|---------------------------------------------------|------------------------------|
/// | looking   | the store looks the request up                    | waiting, fetching, replaying |
/// | waiting   | an equal request is under way                     | looking, once more           |
/// | fetching  | a request to the server; ``CacheInquiry`` decides | fetching, replaying, over    |
/// | replaying | stored bytes are handed over                      | over                         |
///
/// Used on the network thread. Its client is never called from within one of its own calls.
///
/// The first eight properties never change; the rest is the phase and its values.
final class CachedTransfer: @unchecked Sendable {
    // @unchecked: everything happens on the network thread, to which it is carried in closures.

    enum Phase {
        case looking
        case waiting
        case fetching(CacheFetch)
        case replaying(CacheReplay?)
        case over
    }

    let id: TransferID
    let request: TransferRequest
    let question: CacheRequest
    let client: any TransferClient
    let cache: ResponseCache
    let next: any TransferRunning
    let willStore: CacheResponseHandler?
    private let didEnd: () -> Void

    var phase = Phase.looking
    var entries: [CacheEntry] = []
    /// The cost of the requests that have ended.
    var spent = TransferMetrics()
    private var isPaused = false
    /// Whether it may wait for another one; once only.
    private var mayWait = true
    /// The request by which others may wait for this one.
    private(set) var sharing: SharedRequests.Key?
    /// Whether only the store is to be brought up to date: no client takes anything.
    private(set) var revalidation: (entry: Int, fields: HeaderFields)?
    private var hasAsked = false
    /// The number of times that it has waited for the store.
    private var storeWaits = 0
    private let clock = MonotonicTime.now

    init(
        _ id: TransferID,
        _ request: TransferRequest,
        for client: any TransferClient,
        _ cache: ResponseCache,
        _ willStore: CacheResponseHandler?,
        over next: any TransferRunning,
        didEnd: @escaping () -> Void
    ) {
        self.id = id
        self.request = request
        self.client = client
        self.cache = cache
        self.willStore = willStore
        self.next = next
        self.didEnd = didEnd
        question = CacheRequest(request)
    }

    var heads: [CachedHead] { entries.map(\.head) }

    // MARK: - Looking

    func start() {
        if let revalidation {
            return fetch(.validate(revalidation.entry), revalidation.fields)
        }
        look()
    }

    private func look() {
        phase = .looking
        let number = storeWaits
        let known = cache.store.find(question.key) { entries in
            self.later { $0.didFind(entries, number) }
        }
        if let known { return didFind(known, number) }
        // A stalled disk has nothing, as far as this request is concerned.
        limitStoreWait { transfer in
            guard case .looking = transfer.phase else { return }
            transfer.goOnWithout([])
        }
    }

    private func didFind(_ found: [CacheEntry], _ number: Int) {
        guard case .looking = phase, number == storeWaits else { return }
        storeWaits += 1
        entries = found
        switch cache.policy.answer(to: question, from: heads, now: cache.now()) {
        case .fetch:
            fetch(.fetch, question.fieldsToSend)
        case .validate(let index, let fields, _):
            fetch(.validate(index), fields)
        case .serve(let index, let reply):
            if let fields = reply.revalidation { revalidate(index, fields) }
            endSharing(.isStored)
            replay(entries[index], reply)
        case .unavailable:
            endSharing(.hasEnded)
            later { $0.reportUnavailable() }
        }
    }

    /// Nothing is stored, and nothing else is wanted: Foundation's error, or the 504 of [RFC 9111
    /// §5.2.1.7](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.7).
    private func reportUnavailable() {
        if case .over = phase { return }
        // It has no use for the place in the line that it may have.
        next.stop(id)
        guard request.cachePolicy != .returnCacheDataDontLoad else {
            return end(.client(URLError.nothingStored(for: request.url)))
        }
        let head = ResponseHead(version: "HTTP/1.1", status: 504, fields: ["Content-Length": "0"])
        replay(CacheReply(head: head, body: 0..<0, use: .fresh), from: nil)
    }

    // MARK: - Asking

    /// Asks the server, unless an equal request is under way.
    ///
    /// - Parameters:
    ///   - purpose: what for.
    ///   - fields: those of the request.
    func fetch(_ purpose: CacheInquiry.Purpose, _ fields: HeaderFields) {
        if mayWait, let key = sharingKey {
            mayWait = false
            phase = .waiting
            let mustWait = cache.sharedRequests.join(key, id) { isFirst in
                if isFirst { self.lead(key) }
                self.later { $0.goOnAfterAnother() }
            }
            if mustWait {
                // Others may have the connection that it has waited for, the awaited one among them.
                next.stop(id)
                return
            }
            sharing = key
        }
        let inquiry = CacheInquiry(
            purpose: purpose,
            request: question,
            candidates: heads,
            policy: cache.policy,
            time: cache.now()
        )
        var asked = request
        asked.fields = question.sent(fields, for: request)
        let fetch = CacheFetch(
            hasAsked ? .next() : id,
            inquiry,
            since: cache.store.moment,
            willStore: willStore
        )
        hasAsked = true
        phase = .fetching(fetch)
        next.start(asked, id: fetch.id, for: self)
        if isPaused { next.pause(fetch.id) }
    }

    /// The transfer that this one has waited for was stopped: others wait for this one now.
    private func lead(_ key: SharedRequests.Key) {
        sharing = key
        if isPaused { endSharing(.wasStopped) }
    }

    private func goOnAfterAnother() {
        guard case .waiting = phase else { return }
        look()
    }

    /// Equal keys may have one response. A caller's own range or condition is its own affair.
    private var sharingKey: SharedRequests.Key? {
        guard revalidation == nil, let sharing = question.sharing else { return nil }
        return SharedRequests.Key(
            sharing: sharing,
            idleTimeout: request.idleTimeout,
            connectTimeout: request.settings.timeouts.connect,
            proxy: request.trustDomain.proxy,
            priority: request.priority,
            limits: request.settings.downloadLimits.map { ObjectIdentifier($0) }
        )
    }

    /// Others that wait for this transfer go on.
    func endSharing(_ outcome: SharedRequests.Outcome) {
        guard let key = sharing else { return }
        sharing = nil
        cache.sharedRequests.finish(key, of: id, outcome)
    }

    /// Lets those that wait go on later, by the closure that is returned: the first call of it counts.
    func takeSharing() -> @Sendable (SharedRequests.Outcome) -> Void {
        guard let key = sharing else { return { _ in } }
        sharing = nil
        return { [cache, id] outcome in cache.sharedRequests.finish(key, of: id, outcome) }
    }

    /// Whether others wait for what this transfer brings.
    var isAwaited: Bool { sharing.map { cache.sharedRequests.isAwaited($0, id) } ?? false }

    /// Brings a stale response up to date in the background: the operation need not wait, nor live.
    private func revalidate(_ index: Int, _ fields: HeaderFields) {
        let (cache, key, request, next) = (cache, question.key, request, next)
        let client = CacheDiscarder(request.settings.cookieJar)
        let transfer = CachedTransfer(.next(), request, for: client, cache, willStore, over: next) {
            cache.sharedRequests.didRevalidate(key)
        }
        guard cache.sharedRequests.revalidate(key, transfer) else { return }
        transfer.entries = entries
        transfer.revalidation = (index, fields)
        transfer.start()
    }

    // MARK: - Replaying

    func replay(_ entry: CacheEntry, _ reply: CacheReply) {
        // It has no use for the connection that it may have waited for.
        next.stop(id)
        phase = .replaying(nil)
        guard !reply.body.isEmpty, revalidation == nil else {
            return later { $0.replay(reply, from: nil) }
        }
        open(entry) { transfer, reader in
            guard case .replaying = transfer.phase else { return }
            guard let reader else { return transfer.fetchLost(entry) }
            transfer.replay(reply, from: (reader, entry))
        }
    }

    /// The entry that was found is not there any more: an eviction, another process, a file that is not to be
    /// believed.
    private func fetchLost(_ entry: CacheEntry) {
        goOnWithout(entries.filter { $0.id == entry.id })
    }

    /// Requests the response from the server, since these cannot be had.
    private func goOnWithout(_ lost: [CacheEntry]) {
        entries.removeAll { lost.contains($0) }
        guard !question.wantsOnlyStored else { return reportUnavailable() }
        fetch(.fetch, question.fieldsToSend)
    }

    /// Has `late` run when the store has not answered in time. Where a stored response is wanted, however
    /// old, it is waited for as long as a server.
    private func limitStoreWait(_ late: @escaping @Sendable (CachedTransfer) -> Void) {
        let number = storeWaits
        let wantsStored = question.wantsOnlyStored || question.policy == .returnCacheDataElseLoad
        let timeout = wantsStored ? request.idleTimeout : cache.timeouts.standard
        cache.timeouts.wait(timeout) { [weak self] in
            guard let self, number == storeWaits else { return }
            storeWaits += 1
            late(self)
        }
    }

    func open(
        _ entry: CacheEntry,
        _ go: @escaping @Sendable (CachedTransfer, StoredBodyReader?) -> Void
    ) {
        let number = storeWaits
        let answer: @Sendable (CachedTransfer, StoredBodyReader?) -> Void = { transfer, reader in
            guard number == transfer.storeWaits else { return }
            transfer.storeWaits += 1
            go(transfer, reader)
        }
        let known = cache.store.read(entry, of: question.key) { reader in
            self.later { answer($0, reader) }
        }
        if let known { return later { answer($0, known) } }
        limitStoreWait { go($0, nil) }
    }

    private func replay(
        _ reply: CacheReply,
        from source: (reader: StoredBodyReader, entry: CacheEntry)?
    ) {
        // It may have been stopped meanwhile.
        if case .over = phase { return }
        spent.note(reply, to: request.url)
        guard let (reader, entry) = source, !reply.body.isEmpty else {
            phase = .replaying(nil)
            // Whatever it answers: there is no body to be refused.
            let isRefused = client.transferDidReceive(reply.head) == .refuse
            return end(isRefused ? .refused : nil)
        }
        let replay = CacheReplay(
            reader,
            reply.body,
            for: client,
            cache.timeouts,
            timeout: request.idleTimeout
        ) { [weak self] error, handed in
            guard let self else { return }
            spent.bytesKept += handed
            if case .wrongLength = error {
                // It is not what the index says, and so will it be the next time.
                cache.store.remove(entry.id, of: question.key)
            }
            end(error)
        }
        replay.isPaused = isPaused
        phase = .replaying(replay)
        switch client.transferDidReceive(reply.head) {
        case .receive: replay.begin()
        case .later: replay.awaitsAnswer = true
        case .refuse: end(.refused)
        }
    }

    // MARK: - Commands

    func stop() -> TransferMetrics? {
        if case .over = phase { return nil }
        let phase = phase
        self.phase = .over
        switch phase {
        case .waiting:
            if let key = sharingKey { cache.sharedRequests.leave(key, id) }
        case .fetching(let fetch):
            if let cost = next.stop(fetch.id) { spent.add(cost) }
            fetch.abandon()
        case .replaying(let replay):
            replay?.stop()
        case .looking, .over:
            next.stop(id)
        }
        endSharing(.wasStopped)
        return metrics
    }

    func resumeReceiving() {
        switch phase {
        case .fetching(let fetch): next.resumeReceiving(fetch.id)
        case .replaying(let replay): replay?.goOn()
        case .looking, .waiting, .over: break
        }
    }

    func receive() {
        switch phase {
        case .fetching(let fetch):
            next.receive(fetch.id)
        case .replaying(let replay?):
            replay.awaitsAnswer = false
            replay.goOn()
        case .replaying, .looking, .waiting, .over: break
        }
    }

    func giveUp() {
        switch phase {
        case .fetching(let fetch):
            next.giveUp(fetch.id)
        case .replaying(let replay):
            replay?.stop()
            later { $0.end(.refused) }
        case .looking, .waiting, .over: break
        }
    }

    func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        // Those that wait do not wait for a pause.
        if isPaused { endSharing(.wasStopped) }
        switch phase {
        case .fetching(let fetch):
            if isPaused { next.pause(fetch.id) } else { next.resume(fetch.id) }
        case .replaying(let replay):
            replay?.isPaused = isPaused
            if !isPaused { replay?.goOn() }
        case .looking, .waiting, .over: break
        }
    }

    // MARK: - The end

    var metrics: TransferMetrics {
        var metrics = spent
        metrics.url = metrics.url ?? request.url.withoutUserInformation
        if !hasAsked { metrics.transferTime = MonotonicTime.now - clock }
        return metrics
    }

    /// Ends the transfer, of whose request's body `sent` bytes have left this machine.
    func end(_ error: TransferError?, sent: Int64 = 0) {
        if case .over = phase { return }
        phase = .over
        endSharing(.hasEnded)
        didEnd()
        client.transferDidComplete(TransferEnd(id: id, error: error, metrics: metrics, sentCount: sent))
    }

    /// Does it on the network thread, after what is being done now.
    func later(_ body: @escaping @Sendable (CachedTransfer) -> Void) {
        NetworkThread.shared.perform { _ in body(self) }
    }
}

extension TransferMetrics {
    /// Records what a response from the cache says.
    fileprivate mutating func note(_ reply: CacheReply, to url: URL) {
        source = reply.use.source
        self.url = url.withoutUserInformation
        httpVersion = httpVersion ?? reply.head.versionNumber
    }
}
