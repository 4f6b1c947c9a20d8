import Foundation

/// The settings that are kept for a later process: those that a request must not be sent without, and none
/// that is secret.
///
/// What is absent is as it is unless set.
struct TransferSettingsArchive: Codable, Hashable, Sendable {
    private let securityPolicy: SecurityPolicy?
    private let trustAnchors: TrustAnchors?
    private let tlsVersions: ClosedRange<TLSVersion>?
    private let connectTimeout: ArchivedSeconds?
    private let totalTimeout: ArchivedSeconds?
    private let retryPolicy: RetryPolicy?
    private let redirectPolicy: RedirectPolicy?
    /// Without credentials.
    private let proxyConfiguration: ProxyConfiguration?
    /// By name, sorted. A password that is in the URL shall not go out in another way than before.
    private let authenticationSchemes: [String]?
    private let shouldUseCredentialStorage: Bool?
    private let cookies: Cookies?

    /// The cookie storage, if it was not the process's.
    private enum Cookies: String, Codable {
        /// No storage. The raw value is that of earlier archives.
        case absent = "nobodys"
        /// The cookies of a jar of its own. It cannot be kept; an empty one takes its place, not the
        /// process's.
        case own
    }

    init(_ settings: TransferSettings) {
        let standard = TransferSettings()
        securityPolicy =
            settings.securityPolicy == standard.securityPolicy ? nil : settings.securityPolicy
        trustAnchors = settings.trustAnchors == standard.trustAnchors ? nil : settings.trustAnchors
        tlsVersions = settings.tlsVersions == standard.tlsVersions ? nil : settings.tlsVersions
        connectTimeout = settings.timeouts.connect.map(ArchivedSeconds.init)
        totalTimeout = settings.timeouts.total.map(ArchivedSeconds.init)
        retryPolicy = settings.retryPolicy
        redirectPolicy =
            settings.redirectPolicy == standard.redirectPolicy ? nil : settings.redirectPolicy
        proxyConfiguration =
            settings.proxyConfiguration == standard.proxyConfiguration ? nil : settings.proxyConfiguration
        authenticationSchemes =
            settings.authenticationSchemes == standard.authenticationSchemes
            ? nil : settings.authenticationSchemes.map(\.name).sorted()
        shouldUseCredentialStorage = settings.shouldUseCredentialStorage ? nil : false
        cookies = Self.cookies(of: settings)
    }

    private static func cookies(of settings: TransferSettings) -> Cookies? {
        guard let jar = settings.cookieJar else { return .absent }
        return jar === CookieJar.shared ? nil : .own
    }

    /// Puts back what was kept.
    func restore(_ settings: inout TransferSettings) {
        if let securityPolicy { settings.securityPolicy = securityPolicy }
        if let trustAnchors { settings.trustAnchors = trustAnchors }
        if let tlsVersions { settings.tlsVersions = tlsVersions }
        settings.timeouts.connect = connectTimeout?.value
        settings.timeouts.total = totalTimeout?.value
        settings.retryPolicy = retryPolicy
        if let redirectPolicy { settings.redirectPolicy = redirectPolicy }
        if let proxyConfiguration { settings.proxyConfiguration = proxyConfiguration }
        if let authenticationSchemes {
            settings.authenticationSchemes = Set(authenticationSchemes.map { AuthenticationScheme($0) })
        }
        if let shouldUseCredentialStorage { settings.shouldUseCredentialStorage = shouldUseCredentialStorage }
        switch cookies {
        case .absent: settings.cookieJar = nil
        case .own: settings.cookieJar = CookieJar()
        case nil: break
        }
    }
}
