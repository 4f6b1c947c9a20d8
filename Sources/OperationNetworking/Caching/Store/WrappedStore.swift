import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// A `URLCache`, or a cache of the user's, as a store. All calls of it are made on one queue.
///
/// The head as HTTP knows it (times, selecting fields, whose it is) goes into `userInfo`, which `URLCache`
/// keeps in memory and on the disk. A response that comes without it was stored by another client:
///
/// | Of such a response         | Taken for                                                          |
/// |----------------------------|--------------------------------------------------------------------|
/// | its times                  | its `Date`; it has to be validated before each use                 |
/// | its selecting fields       | unknown: with a `Vary` it is not used                              |
/// | its body                   | complete, if its status is not 206 and its length no other than `Content-Length` |
///
/// What `URLCache` of swift-corelibs-foundation loses, which its tests show:
///
/// - It knows a response by host, port and path alone. A response for another query or scheme takes the place
///   of the first, and is given for it: so the URL of what comes is compared, and it is not used for another.
/// - One response for a URL: of several variants (`Vary`), the last one.
/// - In memory, the response that was stored first goes first, however often it is used.
/// - A response whose path is long, or has certain bytes, comes into memory only: the name of its file would
///   be too long, or have a slash.
/// - Its files have the permissions that the umask leaves, and nothing says whether they came to the disk.
/// - Storing a URL twice traps when both are evicted: so what is stored is removed before.
final class WrappedStore: CacheStore {
    private let wrapped: any ResponseStoring
    private let queue = DispatchQueue(label: "OperationNetworking.cache.wrapped")
    private let moments = Locked(StoreMoments())
    private let identifiers = EntryIdentifiers()

    init(_ wrapped: any ResponseStoring) {
        self.wrapped = wrapped
    }

    // MARK: - Reading

    func find(_ key: CacheKey, later: @escaping @Sendable ([CacheEntry]) -> Void) -> [CacheEntry]? {
        queue.async { [self] in later(stored(key).map { [$0.entry] } ?? []) }
        return nil
    }

    /// None: the wrapped cache has one response for a URL.
    func known(_ key: CacheKey) -> [CacheEntry] { [] }

    func read(
        _ entry: CacheEntry,
        of key: CacheKey,
        later: @escaping @Sendable ((any CacheReading)?) -> Void
    ) -> (any CacheReading)? {
        queue.async { [self] in
            guard let stored = stored(key), stored.entry.id == entry.id else { return later(nil) }
            later(MemoryReader(CacheBody(stored.body)))
        }
        return nil
    }

    /// The response that the cache has for the key, if it is for this URL.
    private func stored(_ key: CacheKey) -> WrappedResponse? {
        guard let request = request(key) else { return nil }
        return wrapped.cachedResponse(for: request).flatMap { WrappedResponse($0, for: key) }
    }

    private func request(_ key: CacheKey) -> URLRequest? {
        URL(string: key.url).map { URLRequest(url: $0) }
    }

    // MARK: - Changing

    func write(
        _ head: CachedHead,
        for key: CacheKey,
        replacing: [Int64],
        invalidated: Set<Int64>?,
        since start: StoreMoments.Moment,
        inMemoryOnly: Bool
    ) -> (any CacheWriting)? {
        // Where the wrapped cache puts a body is its own affair.
        guard !inMemoryOnly else { return nil }
        let limit = wrapped.maximumBodyLength
        guard head.length <= limit else { return nil }
        return WrappedWriter(self, key, invalidated: invalidated, start, limit: limit)
    }

    var moment: StoreMoments.Moment { moments.withLock { $0.now } }

    func update(
        _ entry: CacheEntry,
        of key: CacheKey,
        to head: CachedHead,
        since start: StoreMoments.Moment
    ) {
        let head = moments.withLock { $0.overtaking(head, of: key, since: start) }
        change(key) { stored in
            guard stored.entry.id == entry.id else { return nil }
            let head = stored.entry.head.updated(to: head, from: entry.head)
            return WrappedResponse(entry: CacheEntry(id: entry.id, head: head), body: stored.body)
        }
    }

    func invalidate(_ key: CacheKey) {
        moments.withLock { $0.didInvalidate(key) }
        change(key) { stored in
            var stored = stored
            stored.entry.head.isInvalidated = true
            return stored
        }
    }

    func remove(_ id: Int64?, of key: CacheKey) {
        if id == nil { moments.withLock { $0.didRemove(key.url) } }
        queue.async { [self] in
            guard let request = request(key), let stored = stored(key), id == nil || id == stored.entry.id
            else {
                return
            }
            wrapped.removeCachedResponse(for: request)
        }
    }

    private func change(
        _ key: CacheKey,
        _ body: @escaping @Sendable (WrappedResponse) -> WrappedResponse?
    ) {
        queue.async { [self] in
            guard let stored = stored(key), let changed = body(stored) else { return }
            put(changed, key)
        }
    }

    private func put(_ response: WrappedResponse, _ key: CacheKey) {
        guard let request = request(key), let cached = response.cached(for: key) else { return }
        wrapped.removeCachedResponse(for: request)
        wrapped.storeCachedResponse(cached, for: request)
    }

    // MARK: - For writers

    /// Stores a body that came whole.
    fileprivate func store(
        _ head: CachedHead,
        _ body: CacheBody,
        of key: CacheKey,
        invalidated: Set<Int64>?,
        _ start: StoreMoments.Moment,
        _ then: (@Sendable (CacheEntry?) -> Void)?
    ) {
        queue.async { [self] in
            let (isWanted, isInvalidated) = moments.withLock { $0.fate(of: key, since: start) }
            var head = head
            if isInvalidated { head.isInvalidated = true }
            guard isWanted else {
                then?(nil)
                return
            }
            if let old = stored(key)?.entry, old.head.isInvalidated, invalidated?.contains(old.id) == false {
                head.isInvalidated = true
            }
            let entry = CacheEntry(id: identifiers.next(), head: head)
            let response = WrappedResponse(entry: entry, body: body.data)
            put(response, key)
            then?(response.entry)
        }
    }

}

/// Collects a body in memory for a wrapped cache.
private final class WrappedWriter: CacheWriting {
    private struct Progress {
        var body: CacheBody? = CacheBody()
        var isOver = false
    }

    private let store: WrappedStore
    private let key: CacheKey
    private let invalidated: Set<Int64>?
    private let start: StoreMoments.Moment
    private let limit: Int
    private let progress = Locked(Progress())

    init(
        _ store: WrappedStore,
        _ key: CacheKey,
        invalidated: Set<Int64>?,
        _ start: StoreMoments.Moment,
        limit: Int
    ) {
        self.store = store
        self.key = key
        self.invalidated = invalidated
        self.start = start
        self.limit = limit
    }

    let isFull = false
    var isLost: Bool { progress.withLock { $0.body == nil } }
    /// Never called: it is never full.
    var whenReady: (@Sendable () -> Void)? {
        get { nil }
        set { _ = newValue }
    }

    func append(_ bytes: Span<UInt8>) {
        progress.withLock { progress in
            guard let body = progress.body else { return }
            if body.count + bytes.count > limit {
                progress.body = nil
            } else {
                progress.body?.append(bytes)
            }
        }
    }

    func commit(_ head: CachedHead, then: (@Sendable (CacheEntry?) -> Void)?) {
        let body = progress.withLock { progress in
            precondition(!progress.isOver, "An entry was committed twice, or after it was abandoned")
            progress.isOver = true
            defer { progress.body = nil }
            return progress.body
        }
        guard let body, Int64(body.count) == head.length else {
            then?(nil)
            return
        }
        store.store(head, body, of: key, invalidated: invalidated, start, then)
    }

    func abandon() {
        progress.withLock { $0 = Progress(body: nil, isOver: true) }
    }
}
