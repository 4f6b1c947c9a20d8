public import Foundation

/// A handler's place in an ``ImageDownloader``: what cancels it, and nothing of what the others asked for.
public struct ImageDownloadReceipt: Hashable, Sendable {
    /// A number of its own, as given to
    /// ``ImageDownloader/downloadImage(for:receiptID:priority:completionQueue:success:failure:)``.
    public let receiptID: UUID
    /// The URL that was asked for.
    public let url: URL
}
