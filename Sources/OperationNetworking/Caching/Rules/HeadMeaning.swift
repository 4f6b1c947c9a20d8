internal import Foundation
internal import OperationNetworkingSystem

/// A stored head in the form in which the rules ask for it.
struct HeadMeaning: Sendable {
    let directives: CacheDirectives
    /// The time at which the server made the response, in seconds since 1970.
    let time: Double
    /// See ``Freshness/lifetime``; `nil`: the server has said nothing.
    let explicitLifetime: Double?
    /// `Last-Modified`, in seconds since 1970.
    let lastModified: Double?
    /// `nil`: it suits no other request.
    let selecting: SelectingFields?

    init(_ head: ResponseHead, responseTime: Double) {
        let fields = head.fields
        directives = CacheDirectives(fields)
        time = HTTPDate.cacheDate(in: fields, "Date", now: responseTime) ?? responseTime
        explicitLifetime = Self.explicitLifetime(fields, directives, time: time, now: responseTime)
        lastModified = HTTPDate.cacheDate(in: fields, "Last-Modified", now: responseTime)
        selecting = SelectingFields(vary: fields)
    }

    /// From `max-age` or `Expires`; `nil`: the server has said nothing. What is malformed makes stale (RFC
    /// 9111 §4.2.1, §5.3).
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

    /// The meaning of one head, read when it is first asked for; copies of the head share it.
    final class Memo: Sendable {
        private let known = Locked<HeadMeaning?>(nil)

        func value(_ read: () -> HeadMeaning) -> HeadMeaning {
            if let known = known.withLock({ $0 }) { return known }
            let meaning = read()
            // No server sends more, and each would be kept in a multiple of its size.
            if meaning.directives.count <= 64 { known.withLock { $0 = meaning } }
            return meaning
        }
    }
}
