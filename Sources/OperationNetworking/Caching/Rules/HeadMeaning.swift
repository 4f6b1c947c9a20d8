internal import Foundation
internal import OperationNetworkingSystem

/// A stored head, parsed for the rules: once, when the head is made or changed.
struct HeadMeaning: Sendable {
    let directives: CacheDirectives
    /// When the server made the response, in seconds since 1970.
    let time: Double
    /// See ``Freshness/lifetime``; `nil` if the server states none.
    let explicitLifetime: Double?
    /// `Last-Modified`, in seconds since 1970; `nil` if the server states a lifetime, which leaves no room for
    /// the heuristic.
    let lastModified: Double?
    /// `nil` if no other request can match.
    let selecting: SelectingFields?

    init(_ head: ResponseHead, responseTime: Double) {
        let fields = head.fields
        directives = CacheDirectives(fields)
        time = HTTPDate.cacheDate(in: fields, "Date", now: responseTime) ?? responseTime
        explicitLifetime = Self.explicitLifetime(fields, directives, time: time, now: responseTime)
        lastModified =
            explicitLifetime == nil
            ? HTTPDate.cacheDate(in: fields, "Last-Modified", now: responseTime) : nil
        selecting = SelectingFields(vary: fields)
    }

    /// The lifetime in `max-age` or `Expires`; `nil` if the server states none. A malformed value makes the
    /// response stale (RFC 9111 §4.2.1, §5.3).
    private static func explicitLifetime(
        _ fields: HeaderFields,
        _ directives: CacheDirectives,
        time: Double,
        now: Double
    ) -> Double? {
        if let seconds = directives.seconds("max-age").value(malformed: 0) { return seconds }
        guard fields["Expires"] != nil else { return nil }
        guard let expires = HTTPDate.cacheDate(in: fields, "Expires", now: now) else { return 0 }
        return expires - time
    }
}
