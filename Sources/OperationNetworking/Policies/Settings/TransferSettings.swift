public import Foundation

/// The settings of a transfer as one value. Managers, operations and sessions have them as properties, which
/// ``TransferConfigurable`` documents. A ``SessionConfiguration`` contains one.
///
/// Only settings that a request must not be sent without are encoded, and no secrets. Not encoded are
/// `clientIdentity`, `credential`, `tokenSource`, `requestAdapters`, a proxy's credentials, `uploadLimits`,
/// `downloadLimits`, `cache` and `stubs`. A cookie jar other than ``CookieJar/shared`` is decoded as an empty
/// one.
public struct TransferSettings: Sendable {
    private var format = ArchiveFormat()

    // MARK: - Trust

    /// See ``TransferConfigurable/securityPolicy``.
    public var securityPolicy = SecurityPolicy.default

    /// See ``TransferConfigurable/trustAnchors``.
    public var trustAnchors = TrustAnchors.system

    /// See ``TransferConfigurable/clientIdentity``.
    public var clientIdentity: ClientIdentity?

    /// See ``TransferConfigurable/tlsVersions``.
    public var tlsVersions = TLSVersion.defaultRange

    // MARK: - Credentials

    /// See ``TransferConfigurable/credential``.
    public var credential: Credential?

    /// See ``TransferConfigurable/shouldUseCredentialStorage``.
    public var shouldUseCredentialStorage = true

    /// See ``TransferConfigurable/authenticationSchemes``.
    public var authenticationSchemes = AuthenticationScheme.supported

    /// See ``TransferConfigurable/tokenSource``.
    public var tokenSource: TokenSource?

    /// See ``TransferConfigurable/requestAdapters``.
    public var requestAdapters: [any RequestAdapter] = []

    // MARK: - Policies

    /// See ``TransferConfigurable/retryPolicy``.
    public var retryPolicy: RetryPolicy?

    /// See ``TransferConfigurable/redirectPolicy``.
    public var redirectPolicy = RedirectPolicy.follow

    /// See ``TransferConfigurable/proxyConfiguration``.
    public var proxyConfiguration = ProxyConfiguration.environment

    /// See ``TransferConfigurable/cookieJar``.
    public var cookieJar: CookieJar? {
        get { cookies.jar }
        set { cookies = CookieStorage(jar: newValue) }
    }
    private var cookies = CookieStorage(jar: .shared)

    // MARK: - Limits

    /// See ``TransferConfigurable/timeouts``.
    public var timeouts = Timeouts()

    /// See ``TransferConfigurable/uploadLimits``.
    public var uploadLimits: [BandwidthLimit] = []

    /// See ``TransferConfigurable/downloadLimits``.
    public var downloadLimits: [BandwidthLimit] = []

    // MARK: - Internal

    var connectionLimit = ConnectionLimit.process
    /// The higher limit that a batch requests.
    var raisedConnectionLimit = 0
    var layers = TransferLayers()

    /// Creates the default settings.
    public init() {}

    /// Creates the default settings with another connection limit.
    init(connectionLimit: ConnectionLimit) {
        self.connectionLimit = connectionLimit
    }
}

// MARK: - Codable

extension TransferSettings: Codable {
    private enum CodingKeys: CodingKey {
        case format, securityPolicy, trustAnchors, tlsVersions, shouldUseCredentialStorage
        case authenticationSchemes, retryPolicy, redirectPolicy, proxyConfiguration, cookies, timeouts
    }

    /// Replaces the encoded settings by those of `other`.
    mutating func takeEncoded(of other: TransferSettings) {
        securityPolicy = other.securityPolicy
        trustAnchors = other.trustAnchors
        tlsVersions = other.tlsVersions
        shouldUseCredentialStorage = other.shouldUseCredentialStorage
        authenticationSchemes = other.authenticationSchemes
        retryPolicy = other.retryPolicy
        redirectPolicy = other.redirectPolicy
        proxyConfiguration = other.proxyConfiguration
        cookies = CookieStorage(other.cookies.kind)
        timeouts = other.timeouts
    }

    /// A copy that has only the encoded settings.
    var encoded: TransferSettings {
        var settings = TransferSettings()
        settings.takeEncoded(of: self)
        return settings
    }
}

/// A cookie jar, encoded as its kind: a jar other than the shared one is decoded as an empty one.
private struct CookieStorage: Codable, Sendable {
    enum Kind: String, Codable {
        case none, shared, own
    }

    let jar: CookieJar?

    init(jar: CookieJar?) {
        self.jar = jar
    }

    init(_ kind: Kind) {
        jar =
            switch kind {
            case .none: nil
            case .shared: .shared
            case .own: CookieJar()
            }
    }

    var kind: Kind { jar.map { $0 === CookieJar.shared ? .shared : .own } ?? .none }

    // Not synthesized, because a jar is an object.

    init(from decoder: any Decoder) throws { self.init(try Kind(from: decoder)) }

    func encode(to encoder: any Encoder) throws { try kind.encode(to: encoder) }
}

extension ServerVerification {
    /// The verification of a URL's server under these settings.
    init(of url: URL?, _ settings: TransferSettings) {
        self.init(
            of: url,
            by: settings.securityPolicy,
            trusting: settings.trustAnchors,
            allowsDowngrade: settings.redirectPolicy.allowsDowngrade
        )
    }
}

/// The time limits of an operation, in seconds. Each defaults to `nil`: no limit but the request's
/// `timeoutInterval`, which limits the time without any byte sent or received.
public struct Timeouts: Hashable, Codable, Sendable {
    private var format = ArchiveFormat()

    /// The limit on name resolution, connecting and the TLS handshake together. A transfer that exceeds it
    /// fails with `URLError.timedOut`.
    public var connect: TimeInterval? {
        get { connectLimit?.value }
        set { connectLimit = newValue.map { CodedDouble($0) } }
    }
    private var connectLimit: CodedDouble?

    /// The limit on the whole operation, from its start to the end of the last response's body, including
    /// redirects, retries, the delays between them, and the wait for a connection. Pauses and work after the
    /// last byte are not counted. An operation that exceeds it fails with `URLError.timedOut` and is not
    /// retried; received bytes are kept as after any failure. Infinity means no limit.
    public var total: TimeInterval? {
        get { totalLimit?.value }
        set { totalLimit = newValue.map { CodedDouble($0) } }
    }
    private var totalLimit: CodedDouble?

    /// Creates limits; `nil` means no limit.
    public init(connect: TimeInterval? = nil, total: TimeInterval? = nil) {
        (self.connect, self.total) = (connect, total)
    }
}
