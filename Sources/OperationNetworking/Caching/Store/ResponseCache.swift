import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A cache of responses in memory and, with a directory, on the disk: an RFC 9111 cache for operations and
/// managers.
///
/// ```swift
/// let cache = ResponseCache(
///     memoryCapacity: 20 << 20,
///     diskCapacity: 500 << 20,
///     directory: URL(fileURLWithPath: "/var/cache/app/responses", isDirectory: true)
/// )
/// ```
///
/// - Several variants of a URL are kept (`Vary`), and bodies are streamed in and out. What was not used for
///   the longest time goes first when a capacity is reached.
/// - The directory is created with mode 0700 if it is missing. The cache has a folder in it,
///   `OperationNetworking.cache`, of mode 0700, and all files in that have mode 0600. Nothing else in the
///   directory is touched, but the files of builds that had an SQLite index. A directory that belongs to
///   another user, that others may write to, or that is a symbolic link is not used. Then, and if the disk is
///   full or cannot be written, the cache works on in memory, and no request fails.
/// - Several processes may use one directory at the same time, and several caches of one process. Each sees
///   what another one stores, changes and removes a second later at most.
/// - What was stored survives the process, however it ends, and a loss of power: never with wrong bytes.
///
/// Every method may be called on any thread. Those that look for a response, or remove one, may wait for the
/// disk.
public final class ResponseCache: Sendable {
    /// Memory and disk, without Foundation's types.
    let store: ResponseStore
    let policy = CachePolicy()
    let sharedRequests = SharedRequests()
    let timeouts: StoreTimeouts
    /// The time, in seconds since 1970.
    let now: @Sendable () -> Double

    /// Creates a cache. The directory is opened when the cache is first used, in the background.
    ///
    /// - Parameters:
    ///   - memoryCapacity: in bytes; 0: nothing is kept in memory. Heads count, and so does what is known of
    ///     bodies on the disk. A single response takes at most an eighth of it, or half if there is no disk.
    ///   - diskCapacity: in bytes; 0: memory only. Files are counted in the background, so it is kept
    ///     approximately. A single response takes at most half of it.
    ///   - directory: a directory that the cache may use, such as one below `~/.cache`; `nil`: memory only.
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

    /// In bytes. Setting it removes at once what is too much.
    public var memoryCapacity: Int {
        get { store.state.withLock { $0.memory.capacity } }
        set { store.state.withLock { $0.memory.setCapacity(newValue) } }
    }

    /// In bytes. Setting it removes, in the background, what is too much; a cache that was made without a
    /// disk gets none by it.
    public var diskCapacity: Int {
        get { Int(store.disk?.capacity ?? 0) }
        set { store.setDiskCapacity(newValue) }
    }

    /// The bytes that are used in memory, with those that the tables need.
    public var currentMemoryUsage: Int { store.state.withLock { $0.memory.usage } }

    /// The bytes of all responses on the disk: of the files of heads and bodies, in blocks of 4 KiB. Waits
    /// for what is being stored, and counts the files: some milliseconds for a thousand responses.
    public var currentDiskUsage: Int { store.diskUsage }

    /// The longest body that is stored: half of the capacity of the disk, or of memory without a disk.
    public var maximumBodyLength: Int {
        store.state.withLock { state in
            let disk = state.isDiskOn ? store.disk?.maximumLength ?? 0 : 0
            return max(state.memory.maximumCost, Int(disk))
        }
    }

    // MARK: - Responses

    /// The stored response to a GET of the request's URL, whatever its age: the newest variant that the
    /// request's fields select. It came to a request with the same values of fields that name a user, such as
    /// `Authorization` and `X-Api-Key`. What came with an operation's credential, with the cookies of a jar,
    /// or under other settings of trust than the standard ones, is for operations only.
    ///
    /// A field that only the `droppedHeaders` of a ``RedirectPolicy`` name is not known here: what came with
    /// one is for operations, too.
    ///
    /// - Returns: `nil` if there is none.
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

    /// Stores a response to a GET, whatever the rules of HTTP say about it, in place of the variants that the
    /// request's fields select. It counts as received now. A field of the request that only the
    /// `droppedHeaders` of a ``RedirectPolicy`` name is none of a user here: a request without it gets the
    /// response as well.
    ///
    /// Nothing but HTTP responses is stored, and no parts. Of the storage policies, `.notAllowed` is
    /// respected, and `.allowedInMemoryOnly`; `userInfo` is not kept.
    public func storeCachedResponse(_ response: CachedURLResponse, for request: URLRequest) {
        guard response.storagePolicy != .notAllowed, let url = request.url,
            let head = CachedHead(response, for: request)
        else { return }
        let asked = CacheRequest(request, url)
        let key = asked.key
        let replaced = store.entries(of: key).filter { $0.head.isSelected(by: asked) }.map(\.id)
        let writer = store.write(
            head,
            for: key,
            replacing: replaced,
            invalidated: nil,
            since: store.moment,
            inMemoryOnly: response.storagePolicy == .allowedInMemoryOnly
        )
        writer?.append(response.data.span)
        writer?.commit(head, then: nil)
    }

    /// Removes all that is stored for the request's URL: every variant, of every user, under all settings of
    /// trust. What is being received for it now is not stored any more.
    public func removeCachedResponse(for request: URLRequest) {
        guard let url = request.url else { return }
        store.remove(url: CacheKey(url).url)
        store.waitForRemovals()
    }

    /// Removes everything, and waits until it is removed. What is being received now is not stored any more;
    /// a stored body that is being read can be read to its end.
    public func removeAllCachedResponses() {
        store.removeAll()
        store.waitForRemovals()
    }
}
