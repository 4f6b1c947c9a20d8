/// The number of bytes of a body that have moved.
public struct TransferProgress: Hashable, Sendable {
    /// All bytes, with those from before a resumption.
    public let bytes: Int64
    /// The number of bytes that the body has; `nil`: unknown.
    public let expected: Int64?

    /// From 0 to 1; `nil`: unknown.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, max(0, Double(bytes) / Double(expected)))
    }

    init(total: Int64, expected: Int64) {
        bytes = total
        self.expected = expected >= 0 ? expected : nil
    }
}
