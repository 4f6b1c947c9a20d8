import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A cache of responses in memory and, with a directory, on the disk, which follows RFC 9111. For operations
/// and managers.
///
/// ```swift
/// let cache = ResponseCache(
///     memoryCapacity: 20 << 20,
///     diskCapacity: 500 << 20,
///     directory: URL(fileURLWithPath: "/var/cache/app/responses", isDirectory: true)
/// )
/// ```
///
/// - Several variants of a URL are stored (`Vary`). Bodies are streamed in and out. When a capacity is
///   reached, the least recently used responses are removed first.
/// - The directory is created with mode 0700 if it is missing. In it, the cache has a folder
///   `OperationNetworking.cache` of mode 0700, in which all files have mode 0600. Nothing else in the
///   directory is touched, except for the files of builds that had an SQLite index. A directory is not used
///   if it belongs to another user, if others may write to it, or if it is a symbolic link. Then, and if the
///   disk is full or not writable, the cache works in memory only, and no request fails.
/// - Several processes, and several caches of one process, may use a directory at the same time. Each sees
///   what the others store, change and remove within a second.
/// - Stored responses survive the end of the process, however it ends, and a loss of power. They never have
///   wrong bytes.
///
/// Every method may be called on any thread. Those that look up or remove a response may block on the disk.
public final class ResponseCache: Sendable {
    /// The store in memory and on the disk, without Foundation's types.
    let store: ResponseStore
    let sharedRequests = SharedRequests()
    let timeouts: StoreTimeouts
    /// Returns the time, in seconds since 1970.
    let now: @Sendable () -> Double

    /// Creates a cache. The directory is opened when the cache is first used, in the background.
    ///
    /// - Parameters:
    ///   - memoryCapacity: in bytes; 0 for no responses in memory. It includes heads, and what is known about
    ///     bodies on the disk. A single response uses at most an eighth of it, or half without a disk.
    ///   - diskCapacity: in bytes; 0 for memory only. It is approximate, because files are counted in the
    ///     background. A single response uses at most half of it.
    ///   - directory: a directory for the cache, such as one below `~/.cache`; `nil` for memory only.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL?) {
        let store = ResponseStore(
            memoryCapacity: memoryCapacity,
            diskCapacity: diskCapacity,
            directory: directory
        )
        self.init(store)
    }

    init(
        _ store: ResponseStore,
        timeouts: StoreTimeouts = StoreTimeouts(),
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }
    ) {
        self.store = store
        self.timeouts = timeouts
        self.now = now
    }

    // MARK: - Sizes

    /// The capacity in memory, in bytes. Responses that exceed a new value are removed at once.
    public var memoryCapacity: Int {
        get { store.state.withLock { $0.memory.capacity } }
        set { store.state.withLock { $0.memory.setCapacity(newValue) } }
    }

    /// The capacity on the disk, in bytes. Responses that exceed a new value are removed in the background. A
    /// cache that was created without a disk does not get one.
    public var diskCapacity: Int {
        get { Int(store.disk?.capacity ?? 0) }
        set { store.setDiskCapacity(newValue) }
    }

    /// The bytes used in memory, including an estimate for tables.
    public var currentMemoryUsage: Int { store.state.withLock { $0.memory.usage } }

    /// The bytes used on the disk by the files of heads and bodies, in blocks of 4 KiB. Waits for responses
    /// that are being stored, and counts the files, which takes some milliseconds for a thousand responses.
    public var currentDiskUsage: Int { store.diskUsage }

    /// The longest body that is stored: half of the capacity of the disk, or of memory without a disk.
    public var maximumBodyLength: Int {
        store.state.withLock { state in
            let disk = state.isDiskOn ? store.disk?.maximumLength ?? 0 : 0
            return max(state.memory.maximumCost, Int(disk))
        }
    }

    // MARK: - Responses

    /// Returns the stored response to a GET of the request's URL, whatever its age: the newest variant that
    /// the request's fields select. Fields that name a user, such as `Authorization` and `X-Api-Key`, must
    /// have the same values. Responses received with an operation's credential, with the cookies of a jar, or
    /// with other trust settings than the default are only returned to operations.
    ///
    /// The same applies to responses received with a field that only the `droppedHeaders` of a
    /// ``RedirectPolicy`` name.
    ///
    /// - Returns: `nil` if no response is stored.
    public func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let url = request.url else { return nil }
        let asked = CacheRequest(request, url)
        let key = asked.key
        let newest = Array(store.entries(of: key).reversed()).sorted {
            CachePolicy.isOlder($1.head, than: $0.head)
        }
        for entry in newest where entry.head.isSelected(by: asked) {
            guard let body = store.body(of: entry, key) else { continue }
            guard let response = entry.head.head.response(for: url) else { continue }
            return CachedURLResponse(response: response, data: body)
        }
        return nil
    }

    /// Stores a response to a GET, whatever the rules of HTTP say, in place of the variants that the
    /// request's fields select. The response counts as received now. A field that only the `droppedHeaders`
    /// of a ``RedirectPolicy`` name does not name a user here: a request without it receives the response as
    /// well.
    /// Only complete HTTP responses are stored. The storage policies `.notAllowed` and `.allowedInMemoryOnly`
    /// are respected; `userInfo` is not stored.
    public func storeCachedResponse(_ response: CachedURLResponse, for request: URLRequest) {
        guard response.storagePolicy != .notAllowed, let url = request.url else { return }
        let asked = CacheRequest(request, url)
        guard let head = CachedHead(response, for: asked) else { return }
        let key = asked.key
        let replaced = store.entries(of: key).filter { $0.head.isSelected(by: asked) }.map(\.id)
        let writer = store.write(
            head,
            at: StoredBodyWriter.Target(
                key: key,
                replacing: Set(replaced),
                invalidated: nil,
                start: store.moment
            ),
            inMemoryOnly: response.storagePolicy == .allowedInMemoryOnly
        )
        writer?.append(response.data.span)
        writer?.commit(head, then: nil)
    }

    /// Removes all responses stored for the request's URL: every variant, for every user and all trust
    /// settings. A response that is being received for it is not stored.
    public func removeCachedResponse(for request: URLRequest) {
        guard let url = request.url else { return }
        store.remove(url: CacheKey(url).url)
        store.waitForRemovals()
    }

    /// Removes all responses, and waits until they are removed. Responses that are being received are not
    /// stored. A stored body that is being read can be read to its end.
    public func removeAllCachedResponses() {
        store.removeAll()
        store.waitForRemovals()
    }
}
