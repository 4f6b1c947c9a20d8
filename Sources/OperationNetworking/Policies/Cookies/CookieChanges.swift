import Foundation
internal import OperationNetworkingSystem

/// A server's changes of cookies: a value.
struct CookieChanges: Hashable, Sendable {
    /// New ones, and old ones with another value or another end.
    private(set) var stored: [Cookie] = []
    private(set) var deleted: [Cookie] = []
    /// Also deleted if the host is a public suffix.
    private var erased: [Cookie] = []
    /// Whether the response came over TLS, or from this machine.
    private let isSecure: Bool
    /// The host that set them.
    private let host: String

    /// The difference between what libcurl was given and what it has now, as far as the response is its
    /// cause.
    ///
    /// | The cookie that was sent          | Its name is in the response | libcurl has now       | It is     |
    /// |-----------------------------------|-----------------------------|-----------------------|-----------|
    /// | any                               | no, or refused              | anything              | left alone |
    /// | any, or none                      | yes                         | another one           | stored    |
    /// | has not expired by itself         | yes                         | none, or an expired one | deleted |
    /// | has expired since it was read     | yes                         | another path's or domain's of the name | left alone |
    /// | has expired since it was read     | yes                         | none of the name      | deleted   |
    ///
    /// What is left alone may have been renewed by another transfer meanwhile: a cookie that expired while a
    /// transfer lasted, or that libcurl did not take, is gone from its list, and the server has said nothing
    /// of it.
    ///
    /// - Parameters:
    ///   - before: the cookies that libcurl was given.
    ///   - after: the cookies that it has now.
    ///   - names: of the cookies that the response set or deleted.
    ///   - refused: of those, the ones that it may not set.
    ///   - host: the host that has sent it, in the form of a cookie's domain.
    ///   - isSecure: whether it came over TLS, or from this machine; see ``Cookie/isSecure(host:isTLS:)``.
    ///   - erasures: the cookies that it takes away by the host's name.
    ///   - path: of the request.
    ///   - now: seconds since 1970.
    init(
        from before: [Cookie],
        to after: [Cookie],
        naming names: Set<String>,
        refusing refused: Set<String> = [],
        by host: String = "",
        isSecure: Bool = true,
        erasing erasures: CookieErasures = CookieErasures(),
        ofRequestTo path: String = "/",
        now: Int64 = .secondsSince1970
    ) {
        self.host = host
        self.isSecure = isSecure
        let named = names.subtracting(refused)
        let before = before.filter { named.contains($0.name) }
        var left = Dictionary(before.map { ($0.identity, $0) }, uniquingKeysWith: { $1 })
        var kept: Set<String> = []
        for cookie in after where named.contains(cookie.name) && !cookie.hasExpired(by: now) {
            kept.insert(cookie.name)
            let old = left.removeValue(forKey: cookie.identity)
            if old != cookie { stored.append(cookie) }
        }
        deleted = before.filter { cookie in
            left[cookie.identity] != nil && !(cookie.hasExpired(by: now) && kept.contains(cookie.name))
        }
        erased = (before + stored).filter { cookie in
            !cookie.includesSubdomains && cookie.domain == host && erasures.erases(cookie, ofRequestTo: path)
        }
    }

    var isEmpty: Bool { stored.isEmpty && deleted.isEmpty && erased.isEmpty }

    /// The changes without cookies for all sites below a public suffix. A host that is one itself, such as
    /// `github.io`, is sent its own back, and no other host is ([RFC 6265 §5.3, step
    /// 5](https://www.rfc-editor.org/rfc/rfc6265#section-5.3)); libcurl keeps it for those below, too. May
    /// wait for a disk: see ``PublicSuffixes``.
    var withoutPublicSuffixes: CookieChanges {
        guard !erased.isEmpty || stored.contains(where: \.includesSubdomains) else { return self }
        var changes = self
        if !erased.isEmpty, PublicSuffixes.contain(host) {
            let identities = Set(erased.map(\.identity))
            changes.stored.removeAll { identities.contains($0.identity) }
            changes.deleted += erased
        }
        changes.erased = []
        changes.stored = changes.stored.compactMap { cookie in
            guard cookie.includesSubdomains, PublicSuffixes.contain(cookie.domain) else { return cookie }
            // A jar may have had one for all sites, from a file or of the program's own.
            changes.deleted.append(cookie)
            return cookie.domain == host ? cookie.forHostOnly : nil
        }
        return changes
    }

    /// The changes that a jar takes over. libcurl knows the cookies with which the transfer began; the jar
    /// may have got `Secure` ones since then, and a response without TLS leaves these alone.
    ///
    /// - Parameter secureCookies: the jar's `Secure` cookies of these names.
    /// - Returns: the changes, without those of cookies that are left alone.
    func sparing(_ secureCookies: (_ names: Set<String>) -> [Cookie]) -> CookieChanges {
        guard !isSecure else { return self }
        let kept = secureCookies(Set((stored + deleted).map(\.name)))
        guard !kept.isEmpty else { return self }
        var changes = self
        changes.stored.removeAll { new in kept.contains { $0.isProtected(from: new) } }
        changes.deleted.removeAll { new in kept.contains { $0.isProtected(from: new) } }
        return changes
    }
}

extension Int64 {
    /// Now.
    static var secondsSince1970: Int64 { Int64(Date().timeIntervalSince1970) }
}
