public import Foundation

/// A file of a ``DownloadBatch``: its URL, destination and digests.
public struct DownloadItem: Hashable, Codable, Sendable {
    /// An http or https URL. Journals and checkpoints contain it without user and password.
    public var url: URL

    /// The file URL of the complete file. Its folder must exist.
    public var destination: URL

    /// Fields of the request, in addition to those of the manager's serializer. A journal contains only the names of
    /// those that are, or look like, secrets: see ``withheldHeaders``.
    public var headers: [String: String]

    /// The digests that the file must have, all of them.
    public var expectedDigests: [FileDigest]

    /// The names of the ``headers`` that the journal does not contain, for an item from a journal; sorted.
    public internal(set) var withheldHeaders: [String] = []

    /// Creates an item.
    ///
    /// - Parameters:
    ///   - url: the URL of the file.
    ///   - destination: the file URL of the complete file.
    ///   - headers: fields of the request.
    ///   - expectedDigests: the digests that the file must have.
    public init(
        url: URL,
        destination: URL,
        headers: [String: String] = [:],
        expectedDigests: [FileDigest] = []
    ) {
        self.url = url
        self.destination = destination
        self.headers = headers
        self.expectedDigests = expectedDigests
    }
}
