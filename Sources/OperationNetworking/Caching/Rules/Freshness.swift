internal import Foundation

/// The age and the lifetime of a stored response, in seconds
/// ([RFC 9111 §4.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2)).
struct Freshness: Hashable, Sendable {
    /// The limits that the RFC leaves to a cache.
    struct Options: Hashable, Sendable {
        /// The part of the time since `Last-Modified` for which a response without a lifetime is fresh
        /// (§4.2.2).
        var heuristicFraction = 0.1
        /// The longest of such lifetimes, in seconds.
        var maximumHeuristicLifetime: Double = 86_400
        /// The step, in seconds, by which the clock may be set back without making every response stale.
        var clockTolerance: Double = 60
    }

    /// The time since the server made or confirmed it (§4.2.3), at most ``CacheDirectives/maximumSeconds``.
    let age: Double
    /// The time for which it is fresh, from its making on; negative for an `Expires` before its `Date`.
    let lifetime: Double
    /// Whether the server has said how long, rightly or not: then nothing is guessed (§4.2.2).
    let isExplicit: Bool

    /// - Parameters:
    ///   - head: as stored.
    ///   - options: the cache's.
    ///   - now: seconds since 1970.
    init(_ head: CachedHead, _ options: Options, now: Double) {
        let meaning = head.meaning
        age = Self.age(head, made: meaning.time, options, now: now)
        isExplicit = meaning.explicitLifetime != nil
        lifetime = meaning.explicitLifetime ?? Self.heuristicLifetime(head, meaning, options) ?? 0
    }

    var isFresh: Bool { lifetime > age }

    /// The time for which it stays fresh; negative: it is stale for that long.
    var remaining: Double { lifetime - age }

    // MARK: - Age

    /// The larger of what `Date` and `Age` tell, and the time in the cache.
    ///
    /// A clock that was set back leaves that time unknown. A step of ``Options/clockTolerance`` counts as
    /// none; after a longer one the response is as old as can be, and so is validated.
    private static func age(
        _ head: CachedHead,
        made time: Double,
        _ options: Options,
        now: Double
    ) -> Double {
        let apparent = bounded(head.responseTime - time)
        let delay = bounded(head.responseTime - head.requestTime)
        let initial = max(apparent, ageValue(head.fields) + delay)
        let resident = now - head.responseTime
        guard resident >= -options.clockTolerance else { return CacheDirectives.maximumSeconds }
        return bounded(initial + bounded(resident))
    }

    /// The first value of `Age`; 0 for none, and for one that is no number (RFC 9111 §5.1).
    static func ageValue(_ fields: HeaderFields) -> Double {
        guard let value = fields["Age"], let first = value.split(separator: ",").first else { return 0 }
        return CacheDirectives.seconds(Substring(first.utf8.trimmingHTTPWhitespace())) ?? 0
    }

    /// From 0 to 2^31; the upper bound for what is no number.
    private static func bounded(_ seconds: Double) -> Double {
        seconds.isNaN ? CacheDirectives.maximumSeconds : min(max(seconds, 0), CacheDirectives.maximumSeconds)
    }

    // MARK: - Lifetime

    /// A part of the time since the last change (RFC 9111 §4.2.2), if the status or `public` allow it.
    ///
    /// `Pragma: no-cache` of a response means nothing by the RFC (§5.4), but its server wants no guess.
    private static func heuristicLifetime(
        _ head: CachedHead,
        _ meaning: HeadMeaning,
        _ options: Options
    ) -> Double? {
        guard
            ResponseStatus(head.head.status).isHeuristicallyCacheable || meaning.directives.allows("public"),
            head.fields["Pragma"]?.lowercased().contains("no-cache") != true,
            let modified = meaning.lastModified
        else { return nil }
        // A `Date` ahead of the clock here is no sign of a long rest.
        let interval = min(meaning.time, head.responseTime) - modified
        guard interval > 0 else { return nil }
        return min(interval * options.heuristicFraction, options.maximumHeuristicLifetime)
    }
}

extension HTTPDate {
    /// The date in a field, in seconds since 1970; `nil`: there is none, it is malformed, or there are
    /// several that differ.
    static func cacheDate(in fields: HeaderFields, _ name: String, now: Double) -> Double? {
        guard let text = fields.onlyValue(for: name) else { return nil }
        let date = HTTPDate(fieldValue: text, now: Date(timeIntervalSince1970: now), isLenient: true)
        return date.map { Double($0.secondsSince1970) }
    }
}
