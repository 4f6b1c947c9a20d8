internal import Foundation

/// The age and the lifetime of a stored response, in seconds
/// ([RFC 9111 §4.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2)).
struct Freshness: Hashable, Sendable {
    /// The fraction of the time since `Last-Modified` for which a response without a lifetime is fresh
    /// (§4.2.2).
    private static let heuristicFraction = 0.1
    /// The longest lifetime calculated that way, in seconds.
    private static let maximumHeuristicLifetime: Double = 86_400
    /// How far, in seconds, the clock may be set back without making every response stale.
    private static let clockTolerance: Double = 60

    /// The time since the server made or confirmed the response (§4.2.3), at most
    /// ``CacheDirectives/maximumSeconds``.
    let age: Double
    /// The time for which the response is fresh after it was made; negative for an `Expires` before its
    /// `Date`.
    let lifetime: Double

    /// - Parameters:
    ///   - head: the stored head.
    ///   - now: the time, in seconds since 1970.
    init(_ head: CachedHead, now: Double) {
        let meaning = head.meaning
        age = Self.age(head, made: meaning.time, now: now)
        lifetime = meaning.explicitLifetime ?? Self.heuristicLifetime(head, meaning) ?? 0
    }

    var isFresh: Bool { lifetime > age }

    /// The time for which the response stays fresh; negative if it is stale.
    var remaining: Double { lifetime - age }

    /// The larger of the age by `Date` and the age by `Age`, which includes the time in the cache.
    ///
    /// If the clock was set back, the time in the cache is unknown. A step up to ``clockTolerance``
    /// is ignored; after a longer one the response counts as very old and is validated.
    private static func age(_ head: CachedHead, made time: Double, now: Double) -> Double {
        let apparent = bounded(head.responseTime - time)
        let delay = bounded(head.responseTime - head.requestTime)
        let initial = max(apparent, ageValue(head.fields) + delay)
        let resident = now - head.responseTime
        guard resident >= -clockTolerance else { return CacheDirectives.maximumSeconds }
        return bounded(initial + bounded(resident))
    }

    /// The first value of `Age`; 0 if it is missing or not a number (RFC 9111 §5.1).
    static func ageValue(_ fields: HeaderFields) -> Double {
        guard let value = fields["Age"], let first = value.split(separator: ",").first else { return 0 }
        return CacheDirectives.seconds(Substring(first.utf8.trimmingHTTPWhitespace())) ?? 0
    }

    /// `seconds` limited to 0...2^31; the upper bound for NaN.
    private static func bounded(_ seconds: Double) -> Double {
        seconds.isNaN ? CacheDirectives.maximumSeconds : min(max(seconds, 0), CacheDirectives.maximumSeconds)
    }

    // MARK: - Lifetime

    /// A fraction of the time since the last change (RFC 9111 §4.2.2), if the status or `public` allows it.
    ///
    /// `Pragma: no-cache` has no meaning in a response (§5.4), but its server wants no heuristic.
    private static func heuristicLifetime(_ head: CachedHead, _ meaning: HeadMeaning) -> Double? {
        guard
            ResponseStatus(head.head.status).isHeuristicallyCacheable || meaning.directives.allows("public"),
            head.fields["Pragma"]?.lowercased().contains("no-cache") != true,
            let modified = meaning.lastModified
        else { return nil }
        // A `Date` ahead of the local clock does not prove a long time without changes.
        let interval = min(meaning.time, head.responseTime) - modified
        guard interval > 0 else { return nil }
        return min(interval * heuristicFraction, maximumHeuristicLifetime)
    }
}

extension HTTPDate {
    /// The date in a field, in seconds since 1970; `nil` if the field is missing, malformed, or has several
    /// values that differ.
    static func cacheDate(in fields: HeaderFields, _ name: String, now: Double) -> Double? {
        guard let text = fields.onlyValue(for: name) else { return nil }
        let date = HTTPDate(fieldValue: text, now: Date(timeIntervalSince1970: now), isLenient: true)
        return date.map { Double($0.secondsSince1970) }
    }
}
