/// A set of bytes of a representation, as ordered, disjoint, nonempty ranges of offsets.
///
/// A checkpoint stores it as a list of pairs: `[[0,500],[900,1000]]` are the bytes 0 to 499 and 900 to 999.
struct ByteRanges: Hashable, Sendable {
    private(set) var ranges: [Range<Int64>] = []

    /// Creates the set of the first `end` bytes.
    init(upTo end: Int64 = 0) {
        insert(0..<max(0, end))
    }

    /// The number of bytes before the first missing one.
    var prefix: Int64 {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// The offset after the last byte; 0 if the set is empty.
    var end: Int64 { ranges.last?.upperBound ?? 0 }

    /// Whether no byte before the last one is missing.
    var isPrefix: Bool { prefix == end }

    mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        let touching = ranges.filter {
            $0.lowerBound <= range.upperBound && $0.upperBound >= range.lowerBound
        }
        let lower = touching.reduce(range.lowerBound) { min($0, $1.lowerBound) }
        let upper = touching.reduce(range.upperBound) { max($0, $1.upperBound) }
        ranges.removeAll { touching.contains($0) }
        ranges.insert(lower..<upper, at: ranges.firstIndex { $0.lowerBound > lower } ?? ranges.endIndex)
    }

    /// Removes all bytes from offset `length` on.
    mutating func cut(to length: Int64) {
        ranges = ranges.filter { $0.lowerBound < length }
            .map { $0.lowerBound..<min($0.upperBound, length) }
    }
}

extension ByteRanges: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        var end: Int64 = -1
        for pair in try container.decode([[Int64]].self) {
            guard pair.count == 2, pair[0] > end, pair[1] > pair[0] else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "No set of ranges")
            }
            ranges.append(pair[0]..<pair[1])
            end = pair[1]
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(ranges.map { [$0.lowerBound, $0.upperBound] })
    }
}
