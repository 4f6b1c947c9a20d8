/// The body whose bytes count.
enum ProgressDirection: Hashable, Sendable {
    /// The response's.
    case download
    /// The request's.
    case upload
}

/// The arguments of a progress closure.
struct ProgressReport: Hashable, Sendable {
    /// Since the last report.
    var bytes: Int
    /// All bytes, with those from before a resumption.
    var total: Int64
    /// -1: unknown.
    var expected: Int64

    /// The sum of the report and a later one.
    func merged(with later: ProgressReport) -> ProgressReport {
        ProgressReport(
            bytes: Int(Int64(bytes).addingSaturated(Int64(later.bytes))),
            total: later.total,
            expected: later.expected
        )
    }
}
