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
public struct SessionConfiguration: Sendable {
    /// The fields of every request that does not have them. Secret ones (`Authorization`, `Cookie` and the
    /// like) of an ``HTTPSessionManager`` with a base URL are for that URL's origin. A field that cannot be
    /// sent is the error of each task that would have it, a ``RequestSerializationError``.
    public var additionalHeaders: [String: String] = [:]

    /// The `timeoutInterval`, in seconds since a byte last came or went, of requests that have Foundation's
    /// default of 60. `nil`: requests keep that.
    public var requestTimeout: TimeInterval?

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

// MARK: - Codable

extension SessionConfiguration: Codable {
    private enum CodingKeys: CodingKey {
        case additionalHeaders, requestTimeout, maximumConnectionsPerHost, downloadDirectory, settings
    }

    /// Comes back from ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        additionalHeaders = try values.decode([String: String].self, forKey: .additionalHeaders)
        requestTimeout = try values.decodeIfPresent(ArchivedSeconds.self, forKey: .requestTimeout)?.value
        maximumConnectionsPerHost = try values.decodeIfPresent(Int.self, forKey: .maximumConnectionsPerHost)
        downloadDirectory = try values.decodeIfPresent(URL.self, forKey: .downloadDirectory)
        try values.decode(TransferSettingsArchive.self, forKey: .settings).restore(&settings)
    }

    /// Keeps what a value can say: not the `cache` and `stubs`, limits of bytes per second, secrets
    /// (`credential`, `tokenSource`, `clientIdentity`, a proxy's password) or cookies (a jar of its own comes
    /// back empty). The additional headers are kept as they are: what holds the archive holds an
    /// `Authorization` among them.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(additionalHeaders, forKey: .additionalHeaders)
        try values.encodeIfPresent(requestTimeout.map(ArchivedSeconds.init), forKey: .requestTimeout)
        try values.encodeIfPresent(maximumConnectionsPerHost, forKey: .maximumConnectionsPerHost)
        try values.encodeIfPresent(downloadDirectory, forKey: .downloadDirectory)
        try values.encode(TransferSettingsArchive(settings), forKey: .settings)
    }
}
