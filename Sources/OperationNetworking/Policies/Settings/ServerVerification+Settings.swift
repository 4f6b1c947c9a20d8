import Foundation

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
