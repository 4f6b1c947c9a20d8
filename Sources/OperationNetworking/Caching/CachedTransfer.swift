import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// One transfer through a cache, from the lookup to its completion.
///
/// | Phase     | Meaning                                           | Next                         |
/// |-----------|---------------------------------------------------|------------------------------|
/// | looking   | looks up the request in the store                 | waiting, fetching, replaying |
/// | waiting   | waits for an equal request                        | looking again                |
/// | fetching  | asks the server; ``CacheInquiry`` decides         | fetching, replaying, over    |
/// | replaying | passes stored bytes to the client                 | over                         |
///
/// Used on the network thread. Its client is never called from within one of its own calls.
final class CachedTransfer: @unchecked Sendable {
    // @unchecked: used on the network thread only; closures carry it there.

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
    /// The metrics of the completed requests.
    var spent = TransferMetrics()
    private var isPaused = false
    /// Whether it may wait for an equal request. It does so at most once.
    private var mayWait = true
    /// The key under which equal requests wait for this one.
    var sharing: SharedRequests.Key?
    /// The entry to validate, if this is a background revalidation without a client.
    private(set) var revalidation: (entry: Int, fields: HeaderFields)?
    private var hasAsked = false
    /// Whether ``start()`` is running. Until it returns, the client is not called.
    private var isStarting = false
    /// The number of completed waits for the store, by which a late answer is recognized.
    private var storeWaits = 0
    /// The limit of the wait for the store in progress.
    private var storeLimit: StoreTimeouts.Wait?
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
        isStarting = true
        defer { isStarting = false }
        if let revalidation {
            return fetch(validating: revalidation.entry, revalidation.fields)
        }
        look()
    }

    private func look() {
        phase = .looking
        let number = storeWaits
        let known = cache.store.find(question.key) { entries in
            self.later { if $0.endStoreWait(number) { $0.didFind(entries) } }
        }
        if let known { return didFind(known) }
        // For this request, a stalled disk counts as empty.
        limitStoreWait { $0.fetch(without: nil) }
    }

    private func didFind(_ found: [CacheEntry]) {
        entries = found
        switch CachePolicy.answer(to: question, from: heads, now: cache.now()) {
        case .fetch:
            fetch()
        case .validate(let index, let fields):
            fetch(validating: index, fields)
        case .serve(let index, let reply):
            if let fields = reply.revalidation { revalidate(index, fields) }
            endSharing(.isStored)
            replay(entries[index], reply)
        case .unavailable:
            endSharing(.hasEnded)
            afterStart { $0.reportUnavailable() }
        }
    }

    /// Fails because only a stored response is wanted and none exists: with Foundation's error, or with the
    /// 504 of [RFC 9111 §5.2.1.7](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.7).
    private func reportUnavailable() {
        if case .over = phase { return }
        // A reserved connection is not needed.
        next.stop(id)
        guard request.cachePolicy != .returnCacheDataDontLoad else {
            return end(.client(URLError.nothingStored(for: request.url)))
        }
        let head = ResponseHead(version: "HTTP/1.1", status: 504, fields: ["Content-Length": "0"])
        replay(CacheReply(head: head, body: 0..<0, source: .cache), from: nil)
    }

    // MARK: - Requesting

    /// Sends the request, unless an equal one is in progress.
    ///
    /// - Parameters:
    ///   - index: the candidate that may still be valid.
    ///   - fields: the fields that validate it.
    func fetch(validating index: Int? = nil, _ fields: HeaderFields? = nil) {
        client.transferLasts()
        if mayWait, let key = sharingKey {
            mayWait = false
            phase = .waiting
            let mustWait = cache.sharedRequests.join(key, id) { isFirst in
                if isFirst { self.lead(key) }
                self.later { $0.proceedAfterSharedRequest() }
            }
            if mustWait {
                // Releases a reserved connection: other requests may need it, perhaps the one that this
                // transfer waits for.
                next.stop(id)
                return
            }
            sharing = key
        }
        let inquiry = CacheInquiry(
            validated: index,
            request: question,
            candidates: heads,
            time: cache.now()
        )
        var asked = request
        asked.fields = question.sent(fields ?? question.fieldsToSend, for: request)
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

    /// Takes the place of the stopped transfer that this one waited for.
    private func lead(_ key: SharedRequests.Key) {
        sharing = key
        if isPaused { endSharing(.wasStopped) }
    }

    private func proceedAfterSharedRequest() {
        guard case .waiting = phase else { return }
        look()
    }

    /// The key of requests that one response may answer. A request with the caller's own range or condition
    /// has none.
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

    /// Releases the transfers that wait for this one.
    func endSharing(_ outcome: SharedRequests.Outcome) {
        guard let key = sharing else { return }
        sharing = nil
        cache.sharedRequests.finish(key, of: id, outcome)
    }

    /// Whether other transfers wait for this one.
    var isAwaited: Bool { sharing.map { cache.sharedRequests.isAwaited($0, id) } ?? false }

    /// Validates a stale response in the background, independently of the operation.
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
        // A reserved connection is not needed.
        next.stop(id)
        phase = .replaying(nil)
        guard !reply.body.isEmpty, revalidation == nil else {
            return afterStart { $0.replay(reply, from: nil) }
        }
        let number = storeWaits
        let known = cache.store.read(entry, of: question.key) { reader in
            self.later { if $0.endStoreWait(number) { $0.didOpen(reader, entry, reply) } }
        }
        if let known { return afterStart { $0.replay(reply, from: (known, entry)) } }
        limitStoreWait { $0.fetch(without: entry) }
    }

    private func didOpen(_ reader: StoredBodyReader?, _ entry: CacheEntry, _ reply: CacheReply) {
        guard let reader else { return fetch(without: entry) }
        replay(reply, from: (reader, entry))
    }

    /// Requests the response from the server because the store does not answer, or an entry is gone: it was
    /// evicted, another process removed it, or its file is damaged.
    private func fetch(without lost: CacheEntry?) {
        entries.removeAll { $0.id == lost?.id }
        guard !question.wantsOnlyStored else { return reportUnavailable() }
        fetch()
    }

    /// Calls `late` if the store does not answer in time. If the caller wants a stored response of any age,
    /// the limit is the timeout of the request.
    private func limitStoreWait(_ late: @escaping (CachedTransfer) -> Void) {
        let wantsStored = question.wantsOnlyStored || question.policy == .returnCacheDataElseLoad
        if wantsStored { client.transferLasts() }
        let number = storeWaits
        storeLimit = cache.timeouts.wait(wantsStored ? request.idleTimeout : cache.timeouts.standard) {
            if self.endStoreWait(number) { late(self) }
        }
    }

    /// Ends a wait for the store.
    /// - Returns: false if it was over before.
    @discardableResult
    private func endStoreWait(_ number: Int) -> Bool {
        guard number == storeWaits else { return false }
        storeWaits += 1
        cache.timeouts.stop(storeLimit)
        storeLimit = nil
        return true
    }

    private func replay(
        _ reply: CacheReply,
        from source: (reader: StoredBodyReader, entry: CacheEntry)?
    ) {
        // It may have been stopped in the meantime.
        if case .over = phase { return }
        spent.note(reply, to: request.url)
        guard let (reader, entry) = source, !reply.body.isEmpty else {
            phase = .replaying(nil)
            // Without a body, every answer but a refusal means the same.
            let isRefused = client.transferDidReceive(reply.head) == .refuse
            return end(isRefused ? .refused : nil)
        }
        // Until its end, it retains this transfer.
        let replay = CacheReplay(
            reader,
            reply.body,
            for: client,
            cache.timeouts,
            timeout: request.idleTimeout
        ) { [self] error, handed in
            spent.bytesKept += handed
            if case .wrongLength = error {
                // The file differs from its index and will do so the next time.
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
        if case .replaying = phase { client.transferLasts() }
    }

    // MARK: - Commands

    func stop() -> TransferMetrics? {
        if case .over = phase { return nil }
        let phase = phase
        self.phase = .over
        endStoreWait(storeWaits)
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
        case .replaying(let replay): replay?.proceed()
        case .looking, .waiting, .over: break
        }
    }

    func receive() {
        switch phase {
        case .fetching(let fetch):
            next.receive(fetch.id)
        case .replaying(let replay?):
            replay.awaitsAnswer = false
            replay.proceed()
        case .replaying, .looking, .waiting, .over: break
        }
    }

    func cancelReceiving() {
        switch phase {
        case .fetching(let fetch):
            next.cancelReceiving(fetch.id)
        case .replaying(let replay):
            replay?.stop()
            later { $0.end(.refused) }
        case .looking, .waiting, .over: break
        }
    }

    func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        // Waiting transfers do not wait for a paused one.
        if isPaused { endSharing(.wasStopped) }
        switch phase {
        case .fetching(let fetch):
            if isPaused { next.pause(fetch.id) } else { next.resume(fetch.id) }
        case .replaying(let replay):
            replay?.isPaused = isPaused
            if !isPaused { replay?.proceed() }
        case .looking, .waiting, .over: break
        }
    }

    // MARK: - Completion

    var metrics: TransferMetrics {
        var metrics = spent
        metrics.url = metrics.url ?? request.url.withoutUserInformation
        if !hasAsked { metrics.transferTime = MonotonicTime.now - clock }
        return metrics
    }

    /// Ends the transfer. `sent` bytes of the request's body have left this machine.
    func end(_ error: TransferError?, sent: Int64 = 0) {
        if case .over = phase { return }
        phase = .over
        endStoreWait(storeWaits)
        endSharing(.hasEnded)
        didEnd()
        client.transferDidComplete(TransferEnd(id: id, error: error, metrics: metrics, sentCount: sent))
    }

    /// Runs `body` at once, or after the current work if that is ``start()``.
    private func afterStart(_ body: @escaping @Sendable (CachedTransfer) -> Void) {
        if isStarting { later(body) } else { body(self) }
    }

    /// Runs `body` on the network thread, after the current work.
    func later(_ body: @escaping @Sendable (CachedTransfer) -> Void) {
        NetworkThread.shared.perform { _ in body(self) }
    }
}

extension TransferMetrics {
    /// Records that the response came from the cache.
    fileprivate mutating func note(_ reply: CacheReply, to url: URL) {
        source = reply.source
        self.url = url.withoutUserInformation
        httpVersion = httpVersion ?? reply.head.versionNumber
    }
}
