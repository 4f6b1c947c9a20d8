/// Which blocks of a file are allocated when: a value.
struct AllocationPlan: Hashable, Sendable {
    /// How many bytes are allocated at once, and so ahead of those that came, at most.
    static let step: Int64 = 64 << 20

    /// What lies before it is allocated, or was written without.
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

    /// What to allocate before the first byte comes; `nil`: nothing.
    mutating func first() -> Range<Int64>? { take() }

    /// What to allocate before bytes as far as `count` are written; `nil`: nothing.
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
