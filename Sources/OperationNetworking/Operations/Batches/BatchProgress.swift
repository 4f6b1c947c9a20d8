/// The progress of a batch at one moment: an element of ``OperationBatch/updates`` and
/// ``DownloadBatch/updates``.
public struct BatchProgress: Hashable, Sendable {
    /// The fraction that is done, from 0 to 1; never goes down.
    public let fractionCompleted: Double
    /// The reliability of ``fractionCompleted``.
    public let confidence: BatchConfidence
    /// Bytes that came and went, together with those that were there before a resumption.
    public let completedBytes: Int64
    /// Bytes of all members, as far as they are known, and estimated by those for the others; `nil`: nothing
    /// is known.
    public let totalBytes: Int64?
    /// Bytes per second, of the last few seconds most; `nil` at first.
    public let throughput: Double?
    /// The seconds until all bytes will have come; `nil` while that is unknown.
    public let estimatedTimeRemaining: Double?
}
