/// The removals and invalidations of a store, by URL and time. If a request was sent before its URL was
/// removed, its response is not stored; if it was sent before its URL was invalidated, its response has to be
/// validated ([RFC 9111 §4.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.4)). Either may show the
/// earlier state.
struct StoreMoments: Sendable {
    /// A moment in the life of one store.
    struct Moment: Comparable, Sendable {
        fileprivate var number: Int

        static func < (one: Moment, other: Moment) -> Bool { one.number < other.number }
    }

    private struct Row {
        var removed = 0
        var invalidated = 0
    }

    /// The number of URLs remembered. When there are more, responses to earlier requests count as removed.
    private static let maximumRows = 1_000

    private var number = 0
    private var rows: [String: Row] = [:]
    /// The moment up to which events have been forgotten.
    private var floor = 0
    private var removedAll = 0

    var now: Moment { Moment(number: number) }

    /// - Parameters:
    ///   - key: the key of the response.
    ///   - start: when its request was sent.
    /// - Returns: whether the response may be stored, and whether it has to be validated before it is used.
    func fate(of key: CacheKey, since start: Moment) -> (isWanted: Bool, isInvalidated: Bool) {
        guard start.number < number else { return (true, false) }
        let row = rows[key.url] ?? Row()
        let isForgotten = start.number < floor
        return (
            removedAll <= start.number && row.removed <= start.number && !isForgotten,
            row.invalidated > start.number || isForgotten
        )
    }

    /// The head from a validation. An invalidation after the validating request was sent still applies to it.
    func overtaking(_ head: CachedHead, of key: CacheKey, since start: Moment) -> CachedHead {
        guard fate(of: key, since: start).isInvalidated else { return head }
        var head = head
        head.isInvalidated = true
        return head
    }

    mutating func didRemove(_ url: String) {
        note(url) { row, number in row.removed = number }
    }

    mutating func didRemoveAll() {
        number += 1
        removedAll = number
        rows = [:]
    }

    mutating func didInvalidate(_ key: CacheKey) {
        note(key.url) { row, number in row.invalidated = number }
    }

    private mutating func note(_ url: String, _ change: (inout Row, Int) -> Void) {
        if rows.count >= Self.maximumRows, rows[url] == nil {
            rows = [:]
            floor = number
        }
        number += 1
        change(&rows[url, default: Row()], number)
    }
}
