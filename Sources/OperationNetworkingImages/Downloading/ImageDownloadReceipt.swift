public import Foundation

/// A handler's place in an ``ImageDownloader``: what cancels it, and nothing of what the others asked for.
public struct ImageDownloadReceipt: Hashable, Sendable {
    /// The number that was given to
    /// ``ImageDownloader/downloadImage(for:receiptID:priority:completionQueue:success:failure:)``.
    public let receiptID: UUID
    /// The URL that was asked for.
    public let url: URL
    /// Another one for each call, whatever its `receiptID`.
    let ticket: UUID
}
