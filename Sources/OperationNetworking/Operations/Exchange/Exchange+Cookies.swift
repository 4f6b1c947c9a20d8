import Foundation
import FoundationNetworking

// Cookies. The jar may wait for a disk: it is read and written on its own queue, in the order in which things
// happened here, so that a redirect sees what its response has set.
extension Exchange {
    /// Whether the cookies of the next transfer have to be read first; then it starts after that.
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

    /// Called from within libcurl, before the head is judged.
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
    /// The cookies of its first transfer, read now: it may wait for a disk, as the network thread may not.
    /// Next to nothing is done for a jar that is empty.
    func readCookies(_ jar: CookieJar?) -> CookieReading {
        guard let jar, takesCookies else { return .done(nil) }
        let version = jar.version
        guard !jar.isEmpty else { return .done(JarCookies(cookies: [], version: version)) }
        return .done(cookieHost.map { JarCookies(cookies: jar.cookies(concerning: $0), version: version) })
    }

    /// Where the request's cookies come from, and for which host; `nil`: it has none.
    func cookieSource(_ jar: CookieJar?) -> (jar: CookieJar, host: String)? {
        guard let jar, takesCookies, let host = cookieHost else { return nil }
        return (jar, host)
    }

    /// Whether it wants any. One with a `Cookie` field of its own takes care of them itself.
    private var takesCookies: Bool {
        httpShouldHandleCookies && field("Cookie") == nil
    }

    /// A `Host` field names the host that cookies are for, as it does for libcurl.
    private var cookieHost: String? {
        (field("Host") ?? url?.host).map(Cookie.canonical)
    }

    private func field(_ name: String) -> String? {
        allHTTPHeaderFields?.first { $0.key.isEqualIgnoringASCIICase(to: name) }?.value
    }
}
