public import Foundation

/// A file of a ``DownloadBatch``: its address, its destination and its digests.
public struct DownloadItem: Hashable, Codable, Sendable {
    /// An http or https URL. A journal has it without user and password, and so has the checkpoint beside the
    /// partial file.
    public var url: URL

    /// The name of the complete file, as a file URL. Its folder has to exist.
    public var destination: URL

    /// Fields of the request, besides those of the manager's serializer. A journal has only the names of
    /// those that are, or look like, secrets: see ``withheldHeaders``.
    public var headers: [String: String]

    /// The digests that the file has to have, all of them.
    public var expectedDigests: [FileDigest]

    /// The names of those ``headers`` that the journal does not hold, for an item that comes from one;
    /// sorted.
    public internal(set) var withheldHeaders: [String] = []

    /// A file to be downloaded.
    ///
    /// - Parameters:
    ///   - url: its address.
    ///   - destination: the name of the complete file.
    ///   - headers: fields of the request.
    ///   - expectedDigests: the digests that the file has to have.
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
