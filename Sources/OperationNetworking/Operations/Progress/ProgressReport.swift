/// The body whose bytes are counted.
enum ProgressDirection: Hashable, Sendable {
    /// The response's.
    case download
    /// The request's.
    case upload
}

/// The arguments of a progress closure.
struct ProgressReport: Hashable, Sendable {
    /// The bytes since the last report.
    var bytes: Int
    /// All bytes, including those from before a resumption.
    var total: Int64
    /// The expected number of bytes, or -1 if unknown.
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

/// The number of transferred bytes of a body.
public struct TransferProgress: Hashable, Sendable {
    /// All bytes, including those from before a resumption.
    public let bytes: Int64
    /// The total number of bytes of the body; `nil` if unknown.
    public let expected: Int64?

    /// The transferred fraction, from 0 to 1; `nil` if unknown.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, max(0, Double(bytes) / Double(expected)))
    }

    init(total: Int64, expected: Int64) {
        bytes = total
        self.expected = expected >= 0 ? expected : nil
    }
}
