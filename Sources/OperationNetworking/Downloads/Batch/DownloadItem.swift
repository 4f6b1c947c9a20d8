public import Foundation

/// One file of a ``DownloadBatch``: where it is, and what it is to become.
public struct DownloadItem: Hashable, Codable, Sendable {
    /// An http or https URL. A journal has it without user and password, and so has the checkpoint beside the partial file.
    public var url: URL

    /// The name of the complete file, as a file URL. Its folder has to exist.
    public var destination: URL

    /// Fields of the request, besides those of the manager's serializer. A journal has only the names of those that are,
    /// or look like, secrets: see ``withheldHeaders``.
    public var headers: [String: String]

    /// What the file has to be: all of them have to hold.
    public var expectedDigests: [Digest]

    /// Of an item that comes from a journal: the names of those ``headers`` that were not written down, sorted.
    public internal(set) var withheldHeaders: [String] = []

    /// A file to be downloaded.
    ///
    /// - Parameters:
    ///   - url: where it is.
    ///   - destination: where it is saved.
    ///   - headers: fields of the request.
    ///   - expectedDigests: what the file has to be.
    public init(
        url: URL,
        destination: URL,
        headers: [String: String] = [:],
        expectedDigests: [Digest] = []
    ) {
        self.url = url
        self.destination = destination
        self.headers = headers
        self.expectedDigests = expectedDigests
    }
}
