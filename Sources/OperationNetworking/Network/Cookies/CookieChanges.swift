import Foundation

/// What a server has changed: a value.
struct CookieChanges: Hashable, Sendable {
    /// New ones, and old ones with another value or another end.
    private(set) var stored: [Cookie] = []
    private(set) var deleted: [Cookie] = []

    /// The difference between what libcurl was given and what it has now. It shows what was deleted as expired, or not
    /// at all.
    init(from before: [Cookie], to after: [Cookie], now: Int64 = .secondsSince1970) {
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
