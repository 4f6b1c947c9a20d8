/// The metrics of the transfers of an exchange: their sum, and each of them. Made only when they are read, which
/// they are for few exchanges.
struct TransferLog: Sendable {
    /// The maximum number of transfers whose metrics are kept individually.
    static let longestList = 100

    private enum Entry {
        case ended(TransferEnd)
        indirect case stopped(TransferMetrics)

        var metrics: TransferMetrics {
            switch self {
            case .ended(let end): end.metrics
            case .stopped(let metrics): metrics
            }
        }
    }

    /// The last transfer. Most exchanges have one, and need no array.
    private var last: Entry?
    private var earlier: [Entry] = []
    /// The sum of the transfers that are not listed: those of an earlier process, and those before the last ones.
    @Rare private var unlisted: TransferMetrics?
    private var bytesKept: Int64 = 0

    init() {}

    /// Creates the log of an earlier process, which kept only the sum.
    init(_ sum: TransferMetrics) {
        unlisted = sum
    }

    /// Whether no transfer has ended yet.
    var isEmpty: Bool { last == nil }

    var sum: TransferMetrics {
        var sum = unlisted ?? TransferMetrics()
        for metrics in transfers { sum.add(metrics) }
        sum.bytesKept = sum.bytesKept.addingSaturated(bytesKept)
        return sum
    }

    var transfers: [TransferMetrics] { (earlier + (last.map { [$0] } ?? [])).map(\.metrics) }

    /// Adds a transfer that has ended.
    mutating func add(_ end: TransferEnd) { add(.ended(end)) }

    /// Adds a transfer that was stopped.
    mutating func add(_ metrics: TransferMetrics) { add(.stopped(metrics)) }

    private mutating func add(_ next: Entry) {
        if let last { earlier.append(last) }
        if earlier.count == Self.longestList {
            var sum = unlisted ?? TransferMetrics()
            sum.add(earlier.removeFirst().metrics)
            unlisted = sum
        }
        last = next
    }

    /// Counts kept bytes, which are not received again.
    mutating func addKept(_ count: Int64) {
        bytesKept = bytesKept.addingSaturated(count)
    }
}
