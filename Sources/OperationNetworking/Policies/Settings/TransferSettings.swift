public import Foundation

/// The settings of a transfer as one value. ``TransferConfigurable`` says what each does: a manager, an operation
/// and a session have them as properties. A ``SessionConfiguration`` holds one.
///
/// Only the settings that a request must not be sent without are encoded, and none that is secret: not
/// `clientIdentity`, `credential`, `tokenSource`, `requestAdapters`, a proxy's password, `uploadLimits`,
/// `downloadLimits`, `cache` and `stubs`. A cookie jar that is not the process's comes back empty.
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

    // MARK: - Of the library

    var connectionLimit = ConnectionLimit.process
    /// The limit that a batch asks for besides.
    var raisedConnectionLimit = 0
    var layers = TransferLayers()

    /// The settings of an operation that nothing was set on.
    public init() {}

    /// The same, with connections that are counted elsewhere.
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

    /// Takes those of another value that are encoded, and leaves the others as they are.
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

    /// Only the settings that are encoded.
    var encoded: TransferSettings {
        var settings = TransferSettings()
        settings.takeEncoded(of: self)
        return settings
    }
}

/// The cookie jar of settings, coded as which it is: a jar of its own comes back empty, not as the process's.
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

    // By hand: a jar is an object.

    init(from decoder: any Decoder) throws { self.init(try Kind(from: decoder)) }

    func encode(to encoder: any Encoder) throws { try kind.encode(to: encoder) }
}

extension ServerVerification {
    /// The verification of the servers of a URL by these settings.
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
/// `timeoutInterval`, which counts since a byte last came or went.
public struct Timeouts: Hashable, Codable, Sendable {
    private var format = ArchiveFormat()

    /// The limit of finding the server, connecting to it and TLS together. A transfer that needs longer fails with
    /// `URLError.timedOut`.
    public var connect: TimeInterval? {
        get { connectLimit?.value }
        set { connectLimit = newValue.map { CodedDouble($0) } }
    }
    private var connectLimit: CodedDouble?

    /// The limit of the whole operation: from its start to the end of the last response's body, with redirects,
    /// retries, the waits between them, and the wait for a connection. Pauses are not counted, nor what comes
    /// after the last byte. An operation that needs longer fails with `URLError.timedOut`, is not tried again, and
    /// keeps what came as after any failure. Infinity is no limit.
    public var total: TimeInterval? {
        get { totalLimit?.value }
        set { totalLimit = newValue.map { CodedDouble($0) } }
    }
    private var totalLimit: CodedDouble?

    /// `nil` is no limit.
    public init(connect: TimeInterval? = nil, total: TimeInterval? = nil) {
        (self.connect, self.total) = (connect, total)
    }
}
