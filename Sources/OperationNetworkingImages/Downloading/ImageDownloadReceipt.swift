public import Foundation

/// Identifies a handler of an ``ImageDownloader``, to cancel it without affecting other handlers.
public struct ImageDownloadReceipt: Hashable, Sendable {
    /// The identifier that was passed to
    /// ``ImageDownloader/downloadImage(for:receiptID:priority:completionQueue:success:failure:)``.
    public let receiptID: UUID
    /// The requested URL.
    public let url: URL
    /// Unique to each call, whatever its `receiptID`.
    let ticket: UUID
}
