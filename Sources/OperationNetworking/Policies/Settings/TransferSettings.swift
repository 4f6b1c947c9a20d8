import Foundation

/// The settings of transfers, which a manager and its operations have in common: see
/// ``TransferConfigurable``, which shows them.
///
/// Stored properties: 19. Each is a setting that a caller chooses by itself.
public struct TransferSettings: Sendable {
    var securityPolicy = SecurityPolicy.default
    var trustAnchors = TrustAnchors.system
    /// `nil`: no cookies.
    var cookieJar: CookieJar? = .shared
    var clientIdentity: ClientIdentity?
    var tlsVersions = TLSVersion.defaultRange
    var proxyConfiguration = ProxyConfiguration.environment
    var redirectPolicy = RedirectPolicy.follow
    /// For the origin of the request, and no other.
    var credential: Credential?
    var shouldUseCredentialStorage = true
    var authenticationSchemes = AuthenticationScheme.supported
    var tokenSource: TokenSource?
    var retryPolicy: RetryPolicy?
    /// Seconds until a connection has to stand.
    var connectTimeout: TimeInterval?
    /// Seconds that everything may take together.
    var totalTimeout: TimeInterval?
    var connectionLimit = ConnectionLimit.process
    /// The limit that a batch asks for besides.
    var raisedConnectionLimit = 0
    var uploadLimits: [BandwidthLimit] = []
    var downloadLimits: [BandwidthLimit] = []
    var layers = TransferLayers()
}
