/// Cookies in memory, indexed by domain. Its size is bounded, whatever servers send.
struct CookieTable: Sendable {
    /// RFC 6265 §6.1 requires at least 50.
    static let maximumPerDomain = 180
    /// RFC 6265 §6.1 requires at least 3000.
    static let maximum = 5000
    /// The number of cookies that are evicted at once when the table is full. Evicting one at a time would
    /// scan all cookies for each new one, and a server may send any number.
    static let evictionCount = maximum / 50

    private struct Entry {
        let cookie: Cookie
        /// The position in the order in which cookies were set.
        let number: Int

        /// Whether this cookie is evicted before the other.
        func isEvictedBefore(_ other: Entry) -> Bool {
            cookie.isSecure == other.cookie.isSecure ? number < other.number : other.cookie.isSecure
        }
    }

    private var domains: [String: [Cookie.Identity: Entry]] = [:]
    private(set) var count = 0
    private var last = 0
    /// Cookies that were examined for eviction.
    private(set) var steps = StepCount()

    var isEmpty: Bool { count == 0 }

    /// All cookies that have not expired, in the order in which they were set.
    func cookies(now: Int64) -> [Cookie] {
        sorted(domains.values.flatMap(\.values), now)
    }

    /// The cookies for the host, in the order in which they were set.
    func cookies(concerning host: String, now: Int64) -> [Cookie] {
        // No DNS name is longer (RFC 1035 §2.3.4), and each label copies the rest of the name.
        guard !isEmpty, host.utf8.count <= 255 else { return [] }
        var found: [Entry] = []
        var domain = host[...]
        while true {
            if let entries = domains[String(domain)]?.values {
                found += entries.filter { $0.cookie.concerns(host: host) }
            }
            guard let dot = domain.firstIndex(of: ".") else { return sorted(found, now) }
            domain = domain[domain.index(after: dot)...]
        }
    }

    mutating func set(_ cookie: Cookie, now: Int64) {
        remove(cookie.identity)
        guard !cookie.hasExpired(by: now) else { return }
        last += 1
        domains[cookie.domain, default: [:]][cookie.identity] = Entry(cookie: cookie, number: last)
        count += 1
        if domains[cookie.domain]?.count ?? 0 > Self.maximumPerDomain {
            evict(1, among: domains[cookie.domain].map { Array($0.values) } ?? [], now)
        } else if count > Self.maximum {
            evict(Self.evictionCount, among: domains.values.flatMap(\.values), now)
        }
    }

    /// Applies a server's changes.
    mutating func take(_ changes: CookieChanges, now: Int64) {
        let changes = changes.protecting { names in
            domains.values.flatMap { entries in
                entries.values.map(\.cookie).filter {
                    $0.isSecure && names.contains($0.name) && !$0.hasExpired(by: now)
                }
            }
        }
        for cookie in changes.deleted { remove(cookie.identity) }
        for cookie in changes.stored { set(cookie, now: now) }
    }

    mutating func remove(_ identity: Cookie.Identity) {
        guard domains[identity.domain]?.removeValue(forKey: identity) != nil else { return }
        count -= 1
        if domains[identity.domain]?.isEmpty == true { domains[identity.domain] = nil }
    }

    /// Evicts expired cookies, and then the oldest until `count` are removed. Those that are not `Secure` go
    /// first, because a server without TLS could set any number of them ([RFC 6265bis
    /// §5.7](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.7)).
    private mutating func evict(_ count: Int, among entries: [Entry], _ now: Int64) {
        steps.add(entries.count)
        let expired = entries.filter { $0.cookie.hasExpired(by: now) }
        for entry in expired { remove(entry.cookie.identity) }
        let rest = count - expired.count
        guard rest > 0 else { return }
        let valid = entries.filter { !$0.cookie.hasExpired(by: now) }
        for entry in valid.sorted(by: { $0.isEvictedBefore($1) }).prefix(rest) {
            remove(entry.cookie.identity)
        }
    }

    private func sorted(_ entries: [Entry], _ now: Int64) -> [Cookie] {
        entries.filter { !$0.cookie.hasExpired(by: now) }.sorted { $0.number < $1.number }.map(\.cookie)
    }
}
