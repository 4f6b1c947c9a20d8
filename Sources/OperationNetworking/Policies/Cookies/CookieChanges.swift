import Foundation
internal import OperationNetworkingSystem

/// The changes that a response makes to cookies.
struct CookieChanges: Hashable, Sendable {
    /// New cookies, and cookies whose value or expiry changed.
    private(set) var stored: [Cookie] = []
    private(set) var deleted: [Cookie] = []
    /// Also deleted if the host is a public suffix.
    private var erased: [Cookie] = []
    /// Whether the response came over TLS, or from this machine.
    private let isSecure: Bool
    /// The host that sent the response.
    private let host: String

    /// Compares the cookies that libcurl was given with those that it has now, and keeps the changes that the
    /// response caused.
    ///
    /// | The cookie that was sent      | The response sets its name | libcurl has now         | Result     |
    /// |-------------------------------|----------------------------|-------------------------|------------|
    /// | any                           | no, or refused             | anything                | left alone |
    /// | any, or none                  | yes                        | a different one         | stored     |
    /// | has not expired               | yes                        | none, or an expired one | deleted    |
    /// | has expired since it was read | yes                        | one of that name with another path or domain | left alone |
    /// | has expired since it was read | yes                        | none of that name       | deleted    |
    ///
    /// A cookie that expired during the transfer, or that libcurl rejected, is missing from libcurl's list
    /// although the server did not delete it. It is left alone because another transfer may have renewed it.
    ///
    /// - Parameters:
    ///   - before: the cookies that libcurl was given.
    ///   - after: the cookies that it has now.
    ///   - names: the names of the cookies that the response sets or deletes.
    ///   - refused: those of the names that the response may not set.
    ///   - host: the host that sent the response, in the form of a cookie's domain.
    ///   - isSecure: whether the response came over TLS, or from this machine; see
    ///     ``Cookie/isSecure(host:isTLS:)``.
    ///   - erasures: the cookies that the response deletes by a line with a `Domain`.
    ///   - path: the path of the request.
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

    /// The changes, with each cookie of a public suffix restricted to that host. A host that is itself a
    /// public suffix, such as `github.io`, receives its own cookie, and its subdomains do not ([RFC 6265
    /// §5.3, step 5](https://www.rfc-editor.org/rfc/rfc6265#section-5.3)); libcurl would send it to these,
    /// too. May block on disk access: see ``PublicSuffixes``.
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
            // The jar may hold one for all subdomains, from a file or set by the program.
            changes.deleted.append(cookie)
            return cookie.domain == host ? cookie.forHostOnly : nil
        }
        return changes
    }

    /// The changes that a jar applies. libcurl knows only the cookies with which the transfer began. The jar
    /// may have received `Secure` ones since then, which a response without TLS may not change.
    ///
    /// - Parameter secureCookies: returns the jar's `Secure` cookies of these names.
    /// - Returns: the changes, without those to protected cookies.
    func protecting(_ secureCookies: (_ names: Set<String>) -> [Cookie]) -> CookieChanges {
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
    /// The current time.
    static var secondsSince1970: Int64 { Int64(Date().timeIntervalSince1970) }
}
