internal import OperationNetworkingSystem

/// Decides when progress is worth reporting: at most 20 times a second, and always at the end. A value.
///
/// After what came too soon after a report, nothing may come for long: while ``isBehind``, the exchange asks
/// once more when ``interval`` has passed.
///
/// Reports never go backwards. When a download has to start again, nothing is reported until it has passed
/// what was reported before; the last report of a transfer is always true. Meanwhile
/// ``DownloadOperation/presentProgress`` tells how many bytes there are.
struct ProgressMeter {
    /// Seconds between two reports.
    static let interval = 0.05

    private(set) var total: Int64 = 0
    private var reportedTotal: Int64 = 0
    private var reportedAt: MonotonicTime?
    var expected: Int64 = -1

    /// Counts bytes; returns what to report now, if anything.
    mutating func add(_ count: Int, now: MonotonicTime) -> ProgressReport? {
        self.count(count)
        return catchUp(now: now)
    }

    /// Counts bytes that ``catchUp(now:)`` tells of.
    mutating func count(_ count: Int) {
        total = total.addingSaturated(Int64(count))
    }

    /// Whether bytes were counted that no report has told.
    var isBehind: Bool { total > reportedTotal }

    /// The report that is due now of the bytes that were counted before, if any.
    mutating func catchUp(now: MonotonicTime) -> ProgressReport? {
        guard isBehind else { return nil }
        if let reportedAt, now - reportedAt < Self.interval { return nil }
        return report(now: now)
    }

    /// Goes to another total: 0 when everything has to come again, more when it continues.
    mutating func restart(at total: Int64) {
        self.total = total
    }

    /// The last report, unless the last one already said it.
    mutating func finish(now: MonotonicTime) -> ProgressReport? {
        guard total != reportedTotal else { return nil }
        return report(now: now)
    }

    private mutating func report(now: MonotonicTime) -> ProgressReport {
        defer {
            reportedTotal = total
            reportedAt = now
        }
        return ProgressReport(bytes: Int(max(0, total - reportedTotal)), total: total, expected: expected)
    }
}
