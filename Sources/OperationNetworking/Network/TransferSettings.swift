import Foundation

/// How requests travel: what a manager and its operations have in common.
struct TransferSettings: Sendable {
    var trustAnchors = TrustAnchors.system
    var proxyConfiguration = ProxyConfiguration.environment
    var redirectPolicy = RedirectPolicy.follow
    var retryPolicy: RetryPolicy?
    /// Seconds until a connection has to stand.
    var connectTimeout: TimeInterval?
    var uploadLimits: [BandwidthLimit] = []
    var downloadLimits: [BandwidthLimit] = []
}
