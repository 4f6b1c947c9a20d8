/// The allocation of a file's blocks, step by step: a value.
struct AllocationPlan: Hashable, Sendable {
    /// The number of bytes allocated at once, and so ahead of those that came, at most.
    static let step: Int64 = 64 << 20

    /// The end of the bytes that are allocated, or were written without.
    private var end: Int64
    /// The length of the file; `nil`: nothing is allocated.
    private var total: Int64?

    /// - Parameters:
    ///   - count: how many bytes are there; not negative.
    ///   - total: how many there are going to be; `nil`: unknown.
    init(from count: Int64 = 0, total: Int64? = nil) {
        end = count
        self.total = total
    }

    /// The range to allocate before the first byte comes; `nil`: none.
    mutating func first() -> Range<Int64>? { take() }

    /// The range to allocate before bytes as far as `count` are written; `nil`: none.
    mutating func next(for count: Int64) -> Range<Int64>? {
        guard count > end else { return nil }
        // A piece as long as that does not need room ahead.
        guard count - end <= Self.step else {
            end = count
            return nil
        }
        return take()
    }

    /// Allocates nothing more.
    mutating func stop() {
        total = nil
    }

    private mutating func take() -> Range<Int64>? {
        guard let total, end < total else { return nil }
        let range = end..<(end + min(Self.step, total - end))
        end = range.upperBound
        return range
    }
}
