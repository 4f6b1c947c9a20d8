import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A cookie storage.
///
/// ```swift
/// let jar = CookieJar()
/// manager.cookieJar = jar
/// try jar.save(to: file)
/// ```
///
/// | Jar                  | Its cookies                                                    |
/// |----------------------|----------------------------------------------------------------|
/// | ``shared``           | those of `HTTPCookieStorage.shared`, used by the whole process |
/// | `CookieJar(storage)` | those of another `HTTPCookieStorage`                           |
/// | `CookieJar()`        | its own, in memory; ``save(to:)`` writes them to a file        |
///
/// [RFC 6265](https://www.rfc-editor.org/rfc/rfc6265) and the public suffix list decide which cookies are
/// sent and stored, regardless of what the `HTTPCookieStorage` itself would do. A cookie without a name, or
/// with a line end, a tab or a semicolon, is neither sent nor saved.
///
/// As in libcurl, `localhost`, `127.0.0.1` and `::1` count as secure without TLS, and at most 150 cookies
/// and 8 KiB are sent with a request. A jar keeps at most 180 cookies per domain, and a jar in memory at most
/// 5,000 in total; the oldest are removed first.
///
/// Callable from any thread. A jar over a storage may block on the storage's file, which Foundation rewrites
/// at each change.
public final class CookieJar: Sendable {
    private enum Store: Sendable {
        case memory(Locked<CookieTable>)
        case storage(HTTPCookieStorage)
    }

    /// The jar over `HTTPCookieStorage.shared`. The default of all requests.
    public static let shared = CookieJar(HTTPCookieStorage.shared)

    /// The part of the jar that can be read without blocking.
    private struct Snapshot: Sendable {
        var version = 0
        /// The storage's cookies at this version. A jar in memory needs no copy.
        var cookies: [Cookie] = []
    }

    private let store: Store
    private let snapshot = Locked(Snapshot())
    /// Unique to this jar.
    let identity = UUID()
    /// Runs the network thread's work in order: a storage may block on the disk, and that thread must not.
    private let queue = DispatchQueue(label: "OperationNetworking.cookies")
    /// Held while a storage is read and then changed. Recursive, since a storage may call others.
    private let changing = NSRecursiveLock()

    /// Creates an empty jar in memory.
    public init() {
        store = .memory(Locked(CookieTable()))
    }

    /// Creates a jar over `storage`, with the cookies that it already has. `cookieAcceptPolicy` `.never` is
    /// respected; any other policy accepts all cookies.
    ///
    /// Foundation's storage on Linux has limits: `Secure` cookies do not survive the process, because the file
    /// does not record that they are; all programs in one folder share the file, which every user can read;
    /// and two cookies whose domain, path and name form the same text when joined replace each other. To avoid
    /// this, use a jar in memory and ``save(to:)``, which writes with mode 0600.
    public init(_ storage: HTTPCookieStorage) {
        store = .storage(storage)
    }

    // MARK: - Cookies

    /// All cookies that have not expired.
    public var cookies: [HTTPCookie] {
        all(now: .secondsSince1970).compactMap { $0.httpCookie() }
    }

    /// Returns the cookies that a request to `url` would send, the longest paths first.
    public func cookies(for url: URL) -> [HTTPCookie] {
        cookies(for: url, host: Cookie.canonical(url.host ?? "")).compactMap { $0.httpCookie() }
    }

    /// The same for a request whose `Host` field names `host`.
    func cookies(for url: URL, host: String) -> [Cookie] {
        let isSecure = Cookie.isSecure(host: host, isTLS: url.isTLS)
        let path = url.path(percentEncoded: true)
        return cookies(concerning: host)
            .filter { $0.concerns(path: path.isEmpty ? "/" : path) && (isSecure || !$0.isSecure) }
            .enumerated()
            .sorted { ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset) }
            .map(\.element)
    }

    /// Stores a cookie. Replaces the cookie with the same name, domain and path; an expired cookie only
    /// removes it.
    public func set(_ cookie: HTTPCookie) {
        guard let cookie = Cookie(cookie) else { return }
        changing.withLock { set(cookie) }
        publishChange()
    }

    /// Removes the cookie with the same name, domain and path, whatever its value.
    public func remove(_ cookie: HTTPCookie) {
        guard let cookie = Cookie(cookie) else { return }
        changing.withLock { remove(cookie) }
        publishChange()
    }

    /// Removes all cookies. Requests that are running can still store cookies.
    public func removeAll() {
        switch store {
        case .memory(let table): table.withLock { $0 = CookieTable() }
        case .storage(let storage): for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) }
        }
        publishChange()
    }

    // MARK: - For transfers

    /// Whether there are no cookies at all. May block if the storage does.
    var isEmpty: Bool {
        switch store {
        case .memory(let table): table.withLock { $0.isEmpty }
        case .storage(let storage): storage.cookies?.isEmpty ?? true
        }
    }

    /// The cookies that may be sent to the host. May block if the storage does.
    func cookies(concerning host: String, now: Int64 = .secondsSince1970) -> [Cookie] {
        switch store {
        case .memory(let table):
            return table.withLock { $0.cookies(concerning: host, now: now) }
        case .storage(let storage):
            let all = storage.cookies ?? []
            return all.isEmpty ? [] : kept(all, now) { $0.concerns(host: host) }
        }
    }

    /// Passes the same cookies to `then` later, on another thread, after all earlier changes.
    func read(concerning host: String, then: @escaping @Sendable (JarCookies) -> Void) {
        queue.async {
            let version = self.version
            then(JarCookies(cookies: self.cookies(concerning: host), version: version))
        }
    }

    /// Incremented by each change that is made through this jar; over a storage, as soon as its cookies can
    /// be read without blocking. Changes that others make to the storage are not counted.
    package var version: Int { snapshot.withLock { $0.version } }

    /// The cookies that may be sent to the host, if the jar changed since `version`. Does not block.
    func newCookies(
        concerning host: String,
        since version: Int,
        now: Int64 = .secondsSince1970
    ) -> JarCookies? {
        let snapshot = snapshot.withLock { $0.version == version ? nil : $0 }
        guard let snapshot else { return nil }
        let cookies =
            switch store {
            case .memory(let table): table.withLock { $0.cookies(concerning: host, now: now) }
            case .storage: snapshot.cookies.filter { !$0.hasExpired(by: now) && $0.concerns(host: host) }
            }
        return JarCookies(cookies: cookies, version: snapshot.version)
    }

    /// Applies a server's changes; returns at once.
    func store(_ changes: CookieChanges, then: @escaping @Sendable () -> Void) {
        queue.async {
            self.take(changes.withoutPublicSuffixes, now: .secondsSince1970)
            self.publishChange()
            then()
        }
    }

    private func take(_ changes: CookieChanges, now: Int64) {
        switch store {
        case .memory(let table):
            table.withLock { $0.take(changes, now: now) }
        case .storage(let storage):
            changing.withLock {
                let changes = changes.protecting { names in
                    kept(storage.cookies ?? [], now) { $0.isSecure && names.contains($0.name) }
                }
                for cookie in changes.deleted { remove(cookie) }
                for cookie in changes.stored { set(cookie, now: now) }
            }
        }
    }

    // MARK: - Helpers

    /// Publishes a change, so that requests that are waiting for a connection send the new cookies.
    func publishChange() {
        switch store {
        case .memory: snapshot.change { $0.version += 1 }
        case .storage:
            // On the same queue as the changes by transfers, so that an older copy never replaces a newer
            // one.
            queue.async { [self] in
                let cookies = all(now: .secondsSince1970)
                snapshot.change { $0 = Snapshot(version: $0.version + 1, cookies: cookies) }
            }
        }
    }

    func all(now: Int64) -> [Cookie] {
        switch store {
        case .memory(let table): table.withLock { $0.cookies(now: now) }
        case .storage(let storage): kept(storage.cookies ?? [], now) { _ in true }
        }
    }

    func set(_ cookie: Cookie, now: Int64 = .secondsSince1970) {
        switch store {
        case .memory(let table):
            table.withLock { $0.set(cookie, now: now) }
        case .storage(let storage):
            guard storage.cookieAcceptPolicy != .never else { return }
            if cookie.hasExpired(by: now) { return remove(cookie) }
            guard let made = cookie.httpCookie(keepingSecureInMemory: now) else { return }
            storage.setCookie(made)
            evict(from: storage, domain: cookie.domain)
        }
    }

    private func remove(_ cookie: Cookie) {
        switch store {
        case .memory(let table): table.withLock { $0.remove(cookie.identity) }
        case .storage(let storage):
            // The value is ignored.
            if let made = cookie.httpCookie() { storage.deleteCookie(made) }
        }
    }

    /// Bounds what servers can store in an `HTTPCookieStorage`, too.
    private func evict(from storage: HTTPCookieStorage, domain: String) {
        let all = storage.cookies ?? []
        guard all.count > CookieTable.maximumPerDomain else { return }
        let same = all.filter { Cookie.canonical($0.domain) == domain }
        guard same.count > CookieTable.maximumPerDomain else { return }
        if let first = same.min(by: Self.isEvictedBefore) { storage.deleteCookie(first) }
    }

    /// Whether `first` is evicted before `second`: the older one, and `Secure` ones last, as in
    /// ``CookieTable``.
    private static func isEvictedBefore(_ first: HTTPCookie, _ second: HTTPCookie) -> Bool {
        guard first.isSecure == second.isSecure else { return second.isSecure }
        return (Cookie.creation(of: first) ?? 0) < (Cookie.creation(of: second) ?? 0)
    }

    private func kept(_ cookies: [HTTPCookie], _ now: Int64, where isWanted: (Cookie) -> Bool) -> [Cookie] {
        cookies.compactMap { Cookie($0) }.filter { !$0.hasExpired(by: now) && isWanted($0) }
            .sorted { ($0.domain, $0.path, $0.name) < ($1.domain, $1.path, $1.name) }
    }
}

// MARK: - CustomStringConvertible, CustomReflectable

extension CookieJar: CustomStringConvertible, CustomReflectable {
    /// The type, without the cookies, which are secrets.
    public var description: String { "<CookieJar>" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A snapshot of the cookies of a jar that may match a host.
struct JarCookies: Sendable {
    var cookies: [Cookie]
    /// See ``CookieJar/version``.
    var version: Int
}
