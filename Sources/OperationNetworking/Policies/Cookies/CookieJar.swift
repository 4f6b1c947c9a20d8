import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// A cookie storage, which keeps cookies from one request to the next.
///
/// | Jar                             | Its cookies                                                          |
/// |---------------------------------|----------------------------------------------------------------------|
/// | ``shared``                      | those of `HTTPCookieStorage.shared`: the whole process has them      |
/// | `CookieJar(storage)`            | those of another `HTTPCookieStorage`                                 |
/// | `CookieJar()`                   | its own, in memory; ``save(to:)`` keeps them                         |
///
/// Which cookie goes with which request, and which is kept, is decided by [RFC
/// 6265](https://www.rfc-editor.org/rfc/rfc6265) and the list of public suffixes, whatever the storage itself
/// would answer. A cookie with a line end, a tab or a semicolon in it, or without a name, is neither sent nor
/// saved.
///
/// May be used from any thread. One over a storage may wait for its file, which Foundation writes at each
/// change.
public final class CookieJar: Sendable {
    private enum Store: Sendable {
        case memory(Locked<CookieTable>)
        case storage(HTTPCookieStorage)
    }

    /// The jar in front of `HTTPCookieStorage.shared`.
    public static let shared = CookieJar(HTTPCookieStorage.shared)

    /// The part of the jar that can be known without a wait.
    private struct Stock: Sendable {
        var version = 0
        /// The cookies of a storage, as of this version; a jar in memory needs no copy.
        var cookies: [Cookie] = []
    }

    private let store: Store
    private let stock = Locked(Stock())
    /// A name of this jar that no other one has.
    let identity = UUID()
    /// The work of the network thread, in order: a storage may wait for the disk, and that thread may not.
    private let queue = DispatchQueue(label: "OperationNetworking.cookies")
    /// Held while a storage is read and then changed. Recursive, since a storage may call others.
    private let changing = NSRecursiveLock()

    /// An empty jar in memory.
    public init() {
        store = .memory(Locked(CookieTable()))
    }

    /// A jar whose cookies are those of `storage`, from now on and before. `cookieAcceptPolicy` `.never`
    /// counts; the others mean that all are accepted.
    ///
    /// Foundation on Linux forgets, when it reads its file, which cookies were `Secure`: such a cookie is
    /// kept there for as long as the process lasts, and no longer.
    public init(_ storage: HTTPCookieStorage) {
        store = .storage(storage)
    }

    // MARK: - Cookies

    /// All that have not expired.
    public var cookies: [HTTPCookie] {
        all(now: .secondsSince1970).compactMap { $0.httpCookie() }
    }

    /// The cookies that a request to `url` would carry, in order: the longest paths first.
    public func cookies(for url: URL) -> [HTTPCookie] {
        cookies(for: url, host: Cookie.canonical(url.host ?? "")).compactMap { $0.httpCookie() }
    }

    /// The same for a server that is called `host` by the request.
    func cookies(for url: URL, host: String) -> [Cookie] {
        let isSecure = Cookie.isSecure(host: host, isTLS: url.isTLS)
        let path = url.path(percentEncoded: true)
        return cookies(concerning: host)
            .filter { $0.concerns(path: path.isEmpty ? "/" : path) && (isSecure || !$0.isSecure) }
            .enumerated()
            .sorted { ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset) }
            .map(\.element)
    }

    /// Stores a cookie, and replaces the one with the same name, hosts and path. An expired cookie only
    /// removes that one.
    public func set(_ cookie: HTTPCookie) {
        guard let cookie = Cookie(cookie) else { return }
        changing.withLock { set(cookie) }
        takeStock()
    }

    /// Takes out the cookie of this name for these hosts and this path, whatever its value.
    public func remove(_ cookie: HTTPCookie) {
        guard let cookie = Cookie(cookie) else { return }
        changing.withLock { remove(cookie) }
        takeStock()
    }

    /// Removes all cookies. Cookies that running requests bring are still stored.
    public func removeAll() {
        switch store {
        case .memory(let table): table.withLock { $0 = CookieTable() }
        case .storage(let storage): for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) }
        }
        takeStock()
    }

    // MARK: - For transfers

    /// Whether there is no cookie to send to any server. May wait, if a storage does.
    var isEmpty: Bool {
        switch store {
        case .memory(let table): table.withLock { $0.isEmpty }
        case .storage(let storage): storage.cookies?.isEmpty ?? true
        }
    }

    /// The cookies that may go to the host. May wait, if a storage does.
    func cookies(concerning host: String, now: Int64 = .secondsSince1970) -> [Cookie] {
        switch store {
        case .memory(let table):
            return table.withLock { $0.cookies(concerning: host, now: now) }
        case .storage(let storage):
            let all = storage.cookies ?? []
            return all.isEmpty ? [] : kept(all, now) { $0.concerns(host: host) }
        }
    }

    /// The same later: after everything that was stored before, on another thread.
    func read(concerning host: String, then: @escaping @Sendable (JarCookies) -> Void) {
        queue.async {
            let version = self.version
            then(JarCookies(cookies: self.cookies(concerning: host), version: version))
        }
    }

    /// Rises with each change that is made through this jar; of a storage, when its cookies can be had
    /// without a wait. What others change in a storage does not count.
    package var version: Int { stock.withLock { $0.version } }

    /// The cookies that may go to the host, if there was a change since `version`. Waits for nothing.
    func newCookies(
        concerning host: String,
        since version: Int,
        now: Int64 = .secondsSince1970
    ) -> JarCookies? {
        let stock = stock.withLock { $0.version == version ? nil : $0 }
        guard let stock else { return nil }
        let cookies =
            switch store {
            case .memory(let table): table.withLock { $0.cookies(concerning: host, now: now) }
            case .storage: stock.cookies.filter { !$0.hasExpired(by: now) && $0.concerns(host: host) }
            }
        return JarCookies(cookies: cookies, version: stock.version)
    }

    /// Takes over what a server changed; returns at once.
    func store(_ changes: CookieChanges, then: @escaping @Sendable () -> Void) {
        queue.async {
            self.take(changes.withoutPublicSuffixes, now: .secondsSince1970)
            self.takeStock()
            then()
        }
    }

    private func take(_ changes: CookieChanges, now: Int64) {
        switch store {
        case .memory(let table):
            table.withLock { $0.take(changes, now: now) }
        case .storage(let storage):
            changing.withLock {
                let changes = changes.sparing { names in
                    kept(storage.cookies ?? [], now) { $0.isSecure && names.contains($0.name) }
                }
                for cookie in changes.deleted { remove(cookie) }
                for cookie in changes.stored { set(cookie, now: now) }
            }
        }
    }

    // MARK: - Helpers

    /// After a change: requests that wait for a connection send what the jar has then.
    func takeStock() {
        switch store {
        case .memory: stock.change { $0.version += 1 }
        case .storage:
            // In one order with the changes of transfers: no older stock comes after a newer one.
            queue.async { [self] in
                let cookies = all(now: .secondsSince1970)
                stock.change { $0 = Stock(version: $0.version + 1, cookies: cookies) }
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
            makeRoom(in: storage, domain: cookie.domain)
        }
    }

    private func remove(_ cookie: Cookie) {
        switch store {
        case .memory(let table): table.withLock { $0.remove(cookie.identity) }
        case .storage(let storage):
            // The value does not count.
            if let made = cookie.httpCookie() { storage.deleteCookie(made) }
        }
    }

    /// No server can make a storage grow without end, either.
    private func makeRoom(in storage: HTTPCookieStorage, domain: String) {
        let all = storage.cookies ?? []
        guard all.count > CookieTable.maximumPerDomain else { return }
        let same = all.filter { Cookie.canonical($0.domain) == domain }
        guard same.count > CookieTable.maximumPerDomain else { return }
        if let first = same.min(by: Self.goesBefore) { storage.deleteCookie(first) }
    }

    /// The older one, but a `Secure` one last, as in a ``CookieTable``.
    private static func goesBefore(_ first: HTTPCookie, _ second: HTTPCookie) -> Bool {
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
    /// The kind of object; nothing of the cookies, which are secrets.
    public var description: String { "<CookieJar>" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// The cookies of a jar that may concern a host, as they were at one time.
struct JarCookies: Sendable {
    var cookies: [Cookie]
    /// See ``CookieJar/version``.
    var version: Int
}
