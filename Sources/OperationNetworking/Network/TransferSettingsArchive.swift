import Foundation

/// What of the settings is kept for a later process: what a request must not be sent without, and nothing that is secret.
///
/// What is absent is as it is unless set.
struct TransferSettingsArchive: Codable, Hashable, Sendable {
    private let securityPolicy: SecurityPolicy?
    private let trustAnchors: TrustAnchors?
    private let tlsVersions: ClosedRange<TLSVersion>?
    private let connectTimeout: TimeInterval?
    private let retryPolicy: RetryPolicy?
    private let redirectPolicy: RedirectPolicy?
    /// Without credentials.
    private let proxyConfiguration: ProxyConfiguration?

    init(_ settings: TransferSettings) {
        let standard = TransferSettings()
        securityPolicy =
            settings.securityPolicy == standard.securityPolicy ? nil : settings.securityPolicy
        trustAnchors = settings.trustAnchors == standard.trustAnchors ? nil : settings.trustAnchors
        tlsVersions = settings.tlsVersions == standard.tlsVersions ? nil : settings.tlsVersions
        connectTimeout = settings.connectTimeout
        retryPolicy = settings.retryPolicy
        redirectPolicy =
            settings.redirectPolicy == standard.redirectPolicy ? nil : settings.redirectPolicy
        proxyConfiguration =
            settings.proxyConfiguration == standard.proxyConfiguration ? nil : settings.proxyConfiguration
    }

    /// Puts back what was kept.
    func restore(_ settings: inout TransferSettings) {
        if let securityPolicy { settings.securityPolicy = securityPolicy }
        if let trustAnchors { settings.trustAnchors = trustAnchors }
        if let tlsVersions { settings.tlsVersions = tlsVersions }
        settings.connectTimeout = connectTimeout
        settings.retryPolicy = retryPolicy
        if let redirectPolicy { settings.redirectPolicy = redirectPolicy }
        if let proxyConfiguration { settings.proxyConfiguration = proxyConfiguration }
    }
}
