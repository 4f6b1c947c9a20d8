import Foundation
import FoundationNetworking

// Cookies. The jar may wait for a disk, so it is read and written on its own queue, in the order of the
// events here: a redirect sees the cookies that its response has set.
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
        tell(end)
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
