import Foundation
import FoundationNetworking
import OperationNetworkingTesting

@testable import OperationNetworking
@testable import OperationNetworkingSystem

/// A server, a manager with a cache in memory before it, and a clock of their own.
struct CacheScene {
    let server: ScriptedServer
    let manager = OperationManager()
    let cache: ResponseCache
    private let clock: Locked<Double>

    /// - Parameters:
    ///   - server: the one that is asked.
    ///   - memoryCapacity: of the cache, in bytes.
    ///   - diskCapacity: of the cache, in bytes.
    ///   - directory: of the cache.
    ///   - timeout: the seconds for which a request waits for the store.
    init(
        _ server: ScriptedServer,
        memoryCapacity: Int = 32 << 20,
        diskCapacity: Int = 0,
        directory: URL? = nil,
        timeout: Double = StoreTimeouts.defaultTimeout
    ) {
        self.init(
            server,
            ResponseStore(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directory: directory),
            Locked(Date().timeIntervalSince1970),
            timeout
        )
    }

    private init(
        _ server: ScriptedServer,
        _ store: ResponseStore,
        _ clock: Locked<Double>,
        _ timeout: Double
    ) {
        self.server = server
        self.clock = clock
        cache = ResponseCache(
            store,
            timeouts: StoreTimeouts(standard: timeout),
            now: { clock.withLock { $0 } }
        )
        manager.cache = cache
        manager.completionQueue = DispatchQueue(label: "CacheScene")
        // Not that of the process: cookies of other tests would be a part of the identity.
        manager.cookieJar = nil
        var serializer = HTTPResponseSerializer()
        serializer.acceptableStatusCodes = nil
        manager.responseSerializer = serializer
    }

    /// The same server, store and clock, with requests that wait for the store for `timeout` seconds.
    func with(timeout: Double) -> CacheScene {
        CacheScene(server, cache.store, clock, timeout)
    }

    /// Waits until everything that was given to the cache is stored.
    func waitForChanges() async {
        let store = cache.store
        await onDispatchThread { store.waitForChanges() }
    }

    /// Waits until no response for the server's `path` is being validated in the background.
    func waitForRevalidation(_ path: String = "/") async throws {
        let (requests, key) = (cache.sharedRequests, CacheKey(server.url(path: path)))
        let isOver = Gate()
        try await eventually {
            NetworkThread.shared.perform { _ in
                // Only one is kept for a key.
                guard requests.revalidate(key, isOver) else { return }
                requests.didRevalidate(key)
                isOver.open()
            }
            return isOver.isOpen
        }
    }

    /// The responses that are stored for the server's `path`.
    func stored(_ path: String = "/") -> [StoredResponse] {
        cache.stored(for: server.url(path: path))
    }

    /// The number of responses in memory, whatever they are for.
    var responseCount: Int {
        let store = cache.store
        let urls = store.state.withLock { $0.memory.urls }
        return urls.reduce(0) { $0 + store.known(CacheKey(url: $1)).count }
    }

    /// Lets time pass.
    func pass(_ seconds: Double) {
        clock.change { $0 += seconds }
    }

    func request(
        _ path: String = "/",
        _ fields: [String: String] = [:],
        method: String = "GET",
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) -> URLRequest {
        var request = URLRequest(url: server.url(path: path))
        request.httpMethod = method
        request.cachePolicy = policy
        request.timeoutInterval = 20
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    /// Runs an operation to its end.
    @discardableResult
    func fetch(
        _ request: URLRequest,
        _ configure: (HTTPRequestOperation) -> Void = { _ in }
    ) async -> HTTPRequestOperation {
        let operation = manager.operation(for: request)
        configure(operation)
        manager.operationQueue.addOperation(operation)
        _ = try? await operation.value
        return operation
    }

    @discardableResult
    func fetch(
        _ path: String = "/",
        _ fields: [String: String] = [:],
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async -> HTTPRequestOperation {
        await fetch(request(path, fields, policy: policy))
    }
}

/// A response as a cache holds it.
struct StoredResponse {
    fileprivate let head: CachedHead

    var length: Int64? { head.length }
    /// Whether the server has to be asked before it is used again.
    var isInvalidated: Bool { head.isInvalidated }

    /// The validator that a request for the rest of the body would have.
    var ifRange: String? { head.validator.ifRange }

    subscript(field: String) -> String? { head.head.fields[field] }
}

extension ResponseCache {
    /// The responses that are stored for a URL, one for each variant.
    func stored(for url: URL) -> [StoredResponse] {
        store.entries(of: CacheKey(url)).map { StoredResponse(head: $0.head) }
    }
}

extension HTTPRequestOperation {
    /// The body as text.
    var text: String? { responseData.map { String(decoding: $0, as: UTF8.self) } }
}
