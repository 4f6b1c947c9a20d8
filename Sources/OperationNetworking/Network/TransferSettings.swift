import Foundation

/// How requests travel: what a manager and its operations have in common.
struct TransferSettings: Sendable {
    var trustAnchors = TrustAnchors.system
    /// For the origin of the request, and no other.
    var credential: Credential?
    var shouldUseCredentialStorage = true
    var authenticationSchemes = AuthenticationScheme.supported
    var tokenSource: TokenSource?
    var retryPolicy: RetryPolicy?
    /// Seconds until a connection has to stand.
    var connectTimeout: TimeInterval?
    var uploadLimits: [BandwidthLimit] = []
    var downloadLimits: [BandwidthLimit] = []
}
