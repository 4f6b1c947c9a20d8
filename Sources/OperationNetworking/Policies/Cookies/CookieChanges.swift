import Foundation

/// A server's changes of cookies: a value.
struct CookieChanges: Hashable, Sendable {
    /// New ones, and old ones with another value or another end.
    private(set) var stored: [Cookie] = []
    private(set) var deleted: [Cookie] = []

    /// The difference between what libcurl was given and what it has now. It shows what was deleted as
    /// expired, or not at all. Cookies with `refused` names stay as they were, whatever libcurl has made of
    /// them.
    init(
        from before: [Cookie],
        to after: [Cookie],
        refusing refused: Set<String> = [],
        now: Int64 = .secondsSince1970
    ) {
        let (before, after) =
            refused.isEmpty
            ? (before, after)
            : (before.filter { !refused.contains($0.name) }, after.filter { !refused.contains($0.name) })
        var left = Dictionary(before.map { ($0.identity, $0) }, uniquingKeysWith: { $1 })
        for cookie in after where !cookie.hasExpired(by: now) {
            let old = left.removeValue(forKey: cookie.identity)
            if old != cookie { stored.append(cookie) }
        }
        deleted = before.filter { left[$0.identity] != nil }
    }

    var isEmpty: Bool { stored.isEmpty && deleted.isEmpty }
}

extension Int64 {
    /// Now.
    static var secondsSince1970: Int64 { Int64(Date().timeIntervalSince1970) }
}
