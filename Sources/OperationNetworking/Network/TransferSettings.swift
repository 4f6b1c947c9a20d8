import Foundation

/// How requests travel: what a manager and its operations have in common.
struct TransferSettings: Sendable {
    var trustAnchors = TrustAnchors.system
    /// `nil`: no cookies.
    var cookieJar: CookieJar? = .shared
    var retryPolicy: RetryPolicy?
    /// Seconds until a connection has to stand.
    var connectTimeout: TimeInterval?
    var uploadLimits: [BandwidthLimit] = []
    var downloadLimits: [BandwidthLimit] = []
}
