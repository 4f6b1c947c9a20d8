import Foundation
import FoundationNetworking

// Cookies. For each transfer:
//
// 1. The jar's cookies that may concern the host go into the handle (`CURLOPT_COOKIELIST`).
// 2. libcurl decides which are sent, and which of the response's are accepted: RFC 6265, prefixes, public
//    suffixes.
// 3. At the final head, `CURLINFO_COOKIELIST` is compared with what went in. The difference (`CookieChanges`)
//    goes to the jar.
//
// The jar may wait for a disk, so it is read and written on its own queue, in the order of these events: a
// redirect sends what its response has set. The first hop's cookies are read by `start()`. A transfer may
// wait for a connection for long, so cookies are read again if the jar's `version` has risen; below a cache
// they are not, since the cache stores the response under the cookies that it was given. The exchange reports
// its end when all changes are in the jar, so that an operation that depends on it sends them.
extension Exchange {
    /// Reads the cookies of the next transfer if necessary. Returns whether the transfer has to wait for
    /// them.
    func readsCookies() -> Bool {
        guard !cookies.areRead(from: configuration.settings.cookieJar),
            let (jar, host) = route.hop.cookieSource(configuration.settings.cookieJar)
        else { return false }
        jar.read(
            concerning: host,
            then: wait { exchange, cookies, network in exchange.start(network, with: cookies) }
        )
        return true
    }

    /// Called inside a libcurl callback, before the head is judged.
    func store(_ changes: CookieChanges) {
        guard let jar = configuration.settings.cookieJar else { return }
        cookies.willStore()
        jar.store(changes) {
            NetworkThread.shared.perform { _ in self.cookiesAreStored() }
        }
    }

    private func cookiesAreStored() {
        cookies.didStore()
        guard cookies.areStored, let end = machine.cookiesStored() else { return }
        report(end)
    }
}

extension URLRequest {
    /// Reads the cookies of the request's first transfer. May block on a disk, so it is not called on the
    /// network thread. Does almost nothing if the jar is empty.
    func readCookies(_ jar: CookieJar?) -> CookieReading {
        guard let jar, takesCookies else { return .done(nil) }
        let version = jar.version
        guard !jar.isEmpty else { return .done(JarCookies(cookies: [], version: version)) }
        return .done(cookieHost.map { JarCookies(cookies: jar.cookies(concerning: $0), version: version) })
    }

    /// The jar and the host of the request's cookies; `nil` if it has none.
    func cookieSource(_ jar: CookieJar?) -> (jar: CookieJar, host: String)? {
        guard let jar, takesCookies, let host = cookieHost else { return nil }
        return (jar, host)
    }

    /// Whether the request uses a jar. A request with a `Cookie` field does not.
    private var takesCookies: Bool {
        httpShouldHandleCookies && field("Cookie") == nil
    }

    /// The host whose cookies apply: a `Host` field takes precedence, as in libcurl.
    private var cookieHost: String? {
        (field("Host") ?? url?.host).map(Cookie.canonical)
    }

    private func field(_ name: String) -> String? {
        allHTTPHeaderFields?.first { $0.key.isEqualIgnoringASCIICase(to: name) }?.value
    }
}
