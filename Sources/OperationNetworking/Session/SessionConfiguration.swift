public import Foundation
internal import OperationNetworkingSystem

/// The settings that a session is made with: a value, which can be kept for a later process.
///
/// ```swift
/// var configuration = SessionConfiguration.ephemeral
/// configuration.additionalHeaders = ["Accept-Language": "de"]
/// configuration.settings.timeouts.total = 600
/// let session = URLSessionManager(configuration: configuration)
/// ```
///
/// A session takes a copy: a later change of the configuration changes no session. The ``settings`` can be changed
/// on the session itself, which has them as properties: see ``TransferConfigurable``.
///
/// It is encoded without the secrets, cookies and objects of ``TransferSettings``. The additional headers are
/// encoded as they are: what holds the archive holds an `Authorization` among them.
public struct SessionConfiguration: Codable, Sendable {
    private var format = ArchiveFormat()

    /// The fields of every request that does not have them. Secret ones (`Authorization`, `Cookie` and the
    /// like) of an ``HTTPSessionManager`` with a base URL are for that URL's origin. A field that cannot be
    /// sent is the error of each task that would have it, a ``RequestSerializationError``.
    public var additionalHeaders: [String: String] = [:]

    /// The `timeoutInterval`, in seconds since a byte last came or went, of requests that have Foundation's
    /// default of 60. `nil`: requests keep that.
    public var requestTimeout: TimeInterval? {
        get { timeout?.value }
        set { timeout = newValue.map { CodedDouble($0) } }
    }
    private var timeout: CodedDouble?

    /// The number of connections to one scheme, host and port that may carry the session's transfers; `nil`:
    /// as many as ``ConnectionOperation/maximumConnectionsPerHost`` says.
    public var maximumConnectionsPerHost: Int?

    /// The directory of files that are being downloaded; `nil`: the temporary directory. A file is moved from
    /// it without being copied if its destination is on the same file system.
    public var downloadDirectory: URL?

    /// The settings that sessions have in common with operations. What URLSession calls
    /// `timeoutIntervalForResource` is ``Timeouts/total``.
    public var settings = TransferSettings()

    /// The settings of a session on which nothing was set.
    public init() {}

    /// The same as `SessionConfiguration()`.
    public static var `default`: SessionConfiguration { SessionConfiguration() }

    /// Settings that leave nothing behind: cookies of its own, in memory, and no credential storage.
    public static var ephemeral: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.settings.cookieJar = CookieJar()
        configuration.settings.shouldUseCredentialStorage = false
        return configuration
    }
}
