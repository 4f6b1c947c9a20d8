import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// One transfer with a cache before it, from the look at what is stored to the end that its client hears of.
///
/// | Phase     | What goes on                                   | Next                                                |
/// |-----------|------------------------------------------------|-----------------------------------------------------|
/// | looking   | the store is asked                             | waiting, fetching, replaying                        |
/// | waiting   | an equal request is under way                  | looking, once more                                  |
/// | fetching  | the server is asked; ``CacheInquiry`` decides  | fetching, joining, replaying, over                  |
/// | joining   | stored bytes come before those of the server   | fetching                                            |
/// | replaying | stored bytes are handed over                   | over                                                |
///
/// Used on the network thread. Its client is never called from within one of its own calls.
///
/// Stored properties: 17. The first eight never change; the rest is the phase and its values.
final class CachedTransfer: @unchecked Sendable {
    // @unchecked: everything happens on the network thread, to which it is carried in closures.

    enum Phase {
        case looking
        case waiting
        case fetching(CacheFetch)
        /// The reply is on its way to the client; the body comes after it.
        case joining(CacheFetch, CacheReplay?)
        case replaying(CacheReplay?)
        case over
    }

    let id: TransferID
    let request: TransferRequest
    let question: CacheRequest
    let client: any TransferClient
    let place: CachePlace
    let next: any TransferRunning
    let willStore: CacheResponseHandler?
    private let didEnd: () -> Void

    var phase = Phase.looking
    var entries: [CacheEntry] = []
    /// The cost of the requests that have ended.
    var spent = TransferMetrics()
    private var isPutAside = false
    /// Whether it may wait for another one; once only.
    private var mayWait = true
    /// The request by which others may wait for this one.
    private var flight: CacheFlights.Key?
    /// Whether only the store is to be brought up to date: no client takes anything.
    private var revalidation: (entry: Int, fields: HeaderFields)?
    private var hasAsked = false
    private let clock = MonotonicTime.now

    init(
        _ id: TransferID,
        _ request: TransferRequest,
        for client: any TransferClient,
        _ place: CachePlace,
        _ willStore: CacheResponseHandler?,
        over next: any TransferRunning,
        didEnd: @escaping () -> Void
    ) {
        self.id = id
        self.request = request
        self.client = client
        self.place = place
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
        let known = place.store.find(question.key) { entries in
            NetworkThread.shared.perform { _ in self.didFind(entries) }
        }
        if let known { didFind(known) }
    }

    private func didFind(_ found: [CacheEntry]) {
        guard case .looking = phase else { return }
        entries = found
        switch place.policy.answer(to: question, from: heads, now: place.now()) {
        case .fetch:
            fetch(.fetch, question.fieldsToSend)
        case .validate(let index, let fields, _):
            fetch(.validate(index), fields)
        case .complete(let index, let fields, _):
            fetch(.complete(index), fields)
        case .serve(let index, let reply):
            if let fields = reply.revalidation { revalidate(index, fields) }
            land(isShared: true)
            replay(entries[index], reply)
        case .unavailable:
            next.stop(id)
            land(isShared: false)
            later { $0.tellUnavailable() }
        }
    }

    /// Nothing is stored, and nothing else is wanted: Foundation's error, or the 504 of [RFC 9111
    /// §5.2.1.7](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.7).
    private func tellUnavailable() {
        if case .over = phase { return }
        guard request.cachePolicy != .returnCacheDataDontLoad else {
            return end(.client(URLError.nothingStored(for: request.url)))
        }
        let head = ResponseHead(version: "HTTP/1.1", status: 504, fields: ["Content-Length": "0"])
        replay(CacheReply(head: head, body: 0..<0, use: .fresh), from: nil)
    }

    // MARK: - Asking

    /// Asks the server, unless an equal request is under way.
    func fetch(_ purpose: CacheInquiry.Purpose, _ fields: HeaderFields) {
        if let key = flightKey, mayWait {
            mayWait = false
            phase = .waiting
            if place.flights.join(key, id, { self.later { $0.goOnAfterAnother() } }) {
                // Others may have the connection that it has waited for, the awaited one among them.
                next.stop(id)
                return
            }
            flight = key
        }
        let inquiry = CacheInquiry(
            purpose: purpose,
            request: question,
            candidates: heads,
            policy: place.policy,
            time: place.now()
        )
        var asked = request
        asked.fields = question.sent(fields, for: request)
        let fetch = CacheFetch(hasAsked ? .next() : id, inquiry, willStore: willStore)
        hasAsked = true
        phase = .fetching(fetch)
        next.start(asked, id: fetch.id, for: self)
        if isPutAside { next.putAside(fetch.id) }
    }

    private func goOnAfterAnother() {
        guard case .waiting = phase else { return }
        look()
    }

    /// Equal keys may have one response. A caller's own range or condition is its own affair.
    private var flightKey: CacheFlights.Key? {
        guard revalidation == nil, let sharing = question.sharing else { return nil }
        return CacheFlights.Key(sharing: sharing, idleTimeout: request.idleTimeout)
    }

    /// Others that wait for this transfer go on.
    func land(isShared: Bool) {
        guard let key = flight else { return }
        flight = nil
        place.flights.land(key, of: id, isShared: isShared)
    }

    /// Lets those that wait go on later, by the closure that is returned.
    func takeFlight() -> @Sendable (Bool) -> Void {
        guard let key = flight else { return { _ in } }
        flight = nil
        return { [place, id] isShared in place.flights.land(key, of: id, isShared: isShared) }
    }

    /// Whether others wait for what this transfer brings.
    var isAwaited: Bool { flight.map { place.flights.isAwaited($0, id) } ?? false }

    /// Brings a stale response up to date in the background: the operation need not wait, nor live.
    private func revalidate(_ index: Int, _ fields: HeaderFields) {
        let (place, key, request, next) = (place, question.key, request, next)
        let transfer = CachedTransfer(.next(), request, for: CacheDiscarder(), place, willStore, over: next) {
            place.flights.didRevalidate(key)
        }
        guard place.flights.revalidate(key, transfer) else { return }
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
            let start = entry.head.body.range.lowerBound
            let bytes = reply.body.lowerBound - start..<reply.body.upperBound - start
            transfer.replay(reply, from: (reader, bytes))
        }
    }

    /// The entry that was found is not there any more: an eviction, another process, a file that is not to be
    /// believed.
    private func fetchLost(_ entry: CacheEntry) {
        entries.removeAll { $0.id == entry.id }
        guard !question.wantsOnlyStored else { return tellUnavailable() }
        fetch(.fetch, question.fieldsToSend)
    }

    func open(
        _ entry: CacheEntry,
        _ go: @escaping @Sendable (CachedTransfer, (any CacheReading)?) -> Void
    ) {
        let known = place.store.read(entry, of: question.key) { reader in
            self.later { go($0, reader) }
        }
        if let known { later { go($0, known) } }
    }

    private func replay(_ reply: CacheReply, from source: (any CacheReading, Range<Int64>)?) {
        // It may have been stopped meanwhile.
        if case .over = phase { return }
        spent.source = reply.use.source
        spent.url = request.url.withoutUserInformation
        spent.httpVersion = spent.httpVersion ?? reply.head.versionNumber
        guard let (reader, bytes) = source, !bytes.isEmpty else {
            phase = .replaying(nil)
            // Whatever it answers: there is no body to be refused.
            let isRefused = client.transferDidReceive(reply.head) == .refuse
            return end(isRefused ? .refused : nil)
        }
        let replay = CacheReplay(reader, bytes, for: client) { [weak self] error in
            guard let self else { return }
            if error == nil { spent.bytesKept += Int64(bytes.count) }
            end(error)
        }
        replay.isPutAside = isPutAside
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
            if let key = flightKey { place.flights.leave(key, id) }
        case .fetching(let fetch):
            if let cost = next.stop(fetch.id) { spent.add(cost) }
            fetch.keep(in: place.store, entries, isWhole: false)
        case .joining(let fetch, let replay):
            replay?.stop()
            if let cost = next.stop(fetch.id) { spent.add(cost) }
            fetch.keep(in: place.store, entries, isWhole: false)
        case .replaying(let replay):
            replay?.stop()
        case .looking, .over:
            next.stop(id)
        }
        land(isShared: false)
        return metrics
    }

    func resumeReceiving() {
        switch phase {
        case .fetching(let fetch): next.resumeReceiving(fetch.id)
        case .joining(_, let replay): replay?.goOn()
        case .replaying(let replay): replay?.goOn()
        case .looking, .waiting, .over: break
        }
    }

    func receive() {
        switch phase {
        case .fetching(let fetch):
            next.receive(fetch.id)
        case .joining(_, let replay?), .replaying(let replay?):
            replay.awaitsAnswer = false
            replay.goOn()
        case .joining, .replaying, .looking, .waiting, .over: break
        }
    }

    func giveUp() {
        switch phase {
        case .fetching(let fetch):
            next.giveUp(fetch.id)
        case .joining(let fetch, let replay):
            // Its end may have come already.
            replay?.stop()
            if let cost = next.stop(fetch.id) { spent.add(cost) }
            fetch.abandon()
            later { $0.end(.refused) }
        case .replaying(let replay):
            replay?.stop()
            later { $0.end(.refused) }
        case .looking, .waiting, .over: break
        }
    }

    func putAside(_ isAside: Bool) {
        isPutAside = isAside
        // Those that wait do not wait for a pause.
        if isAside { land(isShared: false) }
        switch phase {
        case .fetching(let fetch):
            if isAside { next.putAside(fetch.id) } else { next.takeUp(fetch.id) }
        case .joining(let fetch, let replay):
            if isAside { next.putAside(fetch.id) } else { next.takeUp(fetch.id) }
            replay?.isPutAside = isAside
            if !isAside { replay?.goOn() }
        case .replaying(let replay):
            replay?.isPutAside = isAside
            if !isAside { replay?.goOn() }
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

    func end(_ error: TransferError?) {
        if case .over = phase { return }
        phase = .over
        land(isShared: false)
        didEnd()
        client.transferDidComplete(TransferEnd(id: id, error: error, metrics: metrics))
    }

    /// Does it on the network thread, after what is being done now.
    func later(_ body: @escaping @Sendable (CachedTransfer) -> Void) {
        NetworkThread.shared.perform { _ in body(self) }
    }
}
