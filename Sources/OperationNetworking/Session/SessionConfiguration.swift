public import Foundation
internal import OperationNetworkingSystem

/// The settings that a session is created with: a value, which can be archived for a later process.
///
/// ```swift
/// var configuration = SessionConfiguration.ephemeral
/// configuration.additionalHeaders = ["Accept-Language": "de"]
/// configuration.settings.timeouts.total = 600
/// let session = URLSessionManager(configuration: configuration)
/// ```
///
/// A session copies its configuration, so later changes have no effect on it. The ``settings`` can be changed
/// on the session itself, which has them as properties: see ``TransferConfigurable``.
///
/// It is encoded without the secrets, cookies and objects of ``TransferSettings``. The additional headers are
/// encoded as they are, including an `Authorization` among them.
public struct SessionConfiguration: Codable, Sendable {
    private var format = ArchiveFormat()

    /// Fields added to every request that does not have them. In an ``HTTPSessionManager`` with a base URL,
    /// secret fields (`Authorization`, `Cookie` and the like) are only sent to that URL's origin. A field
    /// that cannot be sent fails each task that would have it with a ``RequestSerializationError``.
    public var additionalHeaders: [String: String] = [:]

    /// The `timeoutInterval`, in seconds without a byte sent or received, of requests that have Foundation's
    /// default of 60. `nil` (the default) keeps that.
    public var requestTimeout: TimeInterval? {
        get { timeout?.value }
        set { timeout = newValue.map { CodedDouble($0) } }
    }
    private var timeout: CodedDouble?

    /// The maximum number of connections to one scheme, host and port that carry the session's transfers.
    /// `nil` (the default) means ``ConnectionOperation/maximumConnectionsPerHost``.
    public var maximumConnectionsPerHost: Int?

    /// The directory of files that are being downloaded; `nil` (the default) is the temporary directory. A
    /// file is moved from it without being copied if its destination is on the same file system.
    public var downloadDirectory: URL?

    /// The settings that sessions have in common with operations. What URLSession calls
    /// `timeoutIntervalForResource` is ``Timeouts/total``.
    public var settings = TransferSettings()

    /// Creates a configuration with the default settings.
    public init() {}

    /// The same as `SessionConfiguration()`.
    public static var `default`: SessionConfiguration { SessionConfiguration() }

    /// Settings that leave nothing behind: a private cookie jar in memory, and no credential storage.
    public static var ephemeral: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.settings.cookieJar = CookieJar()
        configuration.settings.shouldUseCredentialStorage = false
        return configuration
    }
}
