internal import Foundation

/// Certificate pinning and host name checks: which servers an operation accepts, beyond the verification by
/// certificate authorities.
///
/// ```swift
/// manager.securityPolicy = SecurityPolicy(
///     pinningMode: .publicKey,
///     pinnedCertificates: try X509Certificate.all(inDirectory: pins))
/// let users = try await manager.get("users", as: [User].self)
/// ```
///
/// | Mode           | `allowInvalidCertificates` | Accepts                                              |
/// |----------------|----------------------------|------------------------------------------------------|
/// | `.none`        | no                         | a chain that leads to a trusted authority            |
/// | `.none`        | yes                        | everything if `validatesDomainName` is false, else nothing |
/// | `.publicKey`   | no                         | such a chain, with a pinned key in the verified path |
/// | `.publicKey`   | yes                        | a server whose own certificate has a pinned key      |
/// | `.certificate` | no                         | such a chain, which is also valid with the pins as the only authorities |
/// | `.certificate` | yes                        | a chain that is valid with the pins as the only authorities |
///
/// In every mode, if ``validatesDomainName`` is true, the certificate's subjectAltName must match the host.
/// If it has no subjectAltName, its common name is used only if invalid certificates are allowed and the
/// certificate is pinned. `.publicKey` and `.certificate` without pins accept no server. A policy with a
/// pinning mode refuses requests without TLS.
public struct SecurityPolicy: Hashable, Codable, Sendable {
    /// The part of a certificate that is compared with the pins.
    public enum PinningMode: String, Hashable, Codable, Sendable, CaseIterable {
        /// No pinning.
        case none
        /// Public keys. A certificate can be renewed with the same key.
        case publicKey
        /// Certificates.
        case certificate
    }

    private var format = ArchiveFormat()

    /// The part of a certificate that is compared with the pins.
    public var pinningMode: PinningMode

    /// The pins: one of these certificates, or its key, depending on the mode, must be in the server's path.
    /// Duplicates are removed.
    public var pinnedCertificates: [X509Certificate] {
        didSet { pinnedCertificates = Self.unique(pinnedCertificates) }
    }

    /// Additional keys for ``PinningMode/publicKey``: pins without a certificate, such as that of a backup
    /// key. Other modes ignore them.
    public var pinnedPublicKeys: Set<PublicKeyPin>

    /// Whether certificates that are expired, self-signed or issued by an unknown authority are accepted.
    /// Defaults to false.
    public var allowInvalidCertificates: Bool

    /// Whether the certificate must match the URL's host. Defaults to true.
    public var validatesDomainName: Bool

    /// - Parameters:
    ///   - pinningMode: the part of a certificate that is compared with the pins.
    ///   - pinnedCertificates: see ``X509Certificate`` for how to read them from data, a file or a directory.
    ///   - pinnedPublicKeys: additional keys for ``PinningMode/publicKey``.
    ///   - allowInvalidCertificates: whether certificates without a trusted authority are accepted.
    ///   - validatesDomainName: whether the certificate must match the host.
    public init(
        pinningMode: PinningMode = .none,
        pinnedCertificates: [X509Certificate] = [],
        pinnedPublicKeys: Set<PublicKeyPin> = [],
        allowInvalidCertificates: Bool = false,
        validatesDomainName: Bool = true
    ) {
        self.pinningMode = pinningMode
        self.pinnedCertificates = Self.unique(pinnedCertificates)
        self.pinnedPublicKeys = pinnedPublicKeys
        self.allowInvalidCertificates = allowInvalidCertificates
        self.validatesDomainName = validatesDomainName
    }

    /// No pinning: the chain must lead to a trusted authority, and the certificate must match the host.
    public static let `default` = SecurityPolicy()

    /// Refuses a URL without TLS if the policy pins: its server presents no certificate.
    func check(_ url: URL) throws(ServerTrustError) {
        guard pins, !url.isTLS else { return }
        throw ServerTrustError(host: url.host ?? "", check: .encryption, serverTrust: nil, url: url)
    }

    /// Whether the policy pins certificates or keys.
    package var pins: Bool { pinningMode != .none }

    private static func unique(_ certificates: [X509Certificate]) -> [X509Certificate] {
        var seen: Set<X509Certificate> = []
        return certificates.filter { seen.insert($0).inserted }
    }
}

extension URL {
    /// Whether the scheme is https.
    var isTLS: Bool {
        let text = absoluteString
        let (octets, scheme) = (text.utf8Span.span, "https:".utf8Span.span)
        guard octets.count >= scheme.count else { return false }
        for index in scheme.indices where octets[index].lowercasedASCII != scheme[index] { return false }
        return true
    }
}

// MARK: - Evaluation

extension SecurityPolicy {
    /// Evaluates a server's trust.
    ///
    /// - Parameter trust: the server's certificates, and the result of their verification.
    /// - Returns: the check that failed; `nil` if the server is accepted.
    public func failedCheck(of trust: ServerTrust) -> ServerTrustError.Check? {
        if let failure = failureOfPath(in: trust) { return failure }
        guard validatesDomainName, let host = trust.host else { return nil }
        guard let leaf = trust.certificates.first else { return .host }
        return failureOfName(host, in: leaf)
    }

    private func failureOfName(_ host: String, in leaf: X509Certificate) -> ServerTrustError.Check? {
        if leaf.isIssued(to: host) { return nil }
        // If a self-made certificate is pinned, the pin has proven its identity.
        if pins, allowInvalidCertificates, isPinned(leaf) {
            return leaf.isIssuedByAnyMeans(to: host) ? nil : .host
        }
        return leaf.hasAlternativeNames ? .host : .noSubjectAlternativeName
    }

    /// Whether the server's own certificate is pinned, not only an issuer.
    private func isPinned(_ leaf: X509Certificate) -> Bool {
        switch pinningMode {
        case .none: false
        case .publicKey: publicKeys.contains(leaf)
        case .certificate: pinnedCertificates.contains(leaf)
        }
    }

    private func failureOfPath(in trust: ServerTrust) -> ServerTrustError.Check? {
        switch pinningMode {
        case .none:
            guard allowInvalidCertificates else { return trust.path.failure }
            // The name in an unverified certificate proves nothing: it can be any name.
            return validatesDomainName && trust.host != nil ? .nothingPinned : nil
        case .publicKey:
            let pins = publicKeys
            guard !pins.isEmpty else { return .nothingPinned }
            if let failure = allowInvalidCertificates ? nil : trust.path.failure { return failure }
            // Only the verified path counts: an attacker can append a genuine certificate to the chain that
            // the server presents.
            let path =
                allowInvalidCertificates ? Array(trust.certificates.prefix(1)) : trust.path.certificates
            return path.contains { pins.contains($0) } ? nil : .pin(pinningMode)
        case .certificate:
            guard !pinnedCertificates.isEmpty else { return .nothingPinned }
            if let failure = allowInvalidCertificates ? nil : trust.path.failure { return failure }
            return trust.pinnedPath.failure.map { allowInvalidCertificates ? $0.asPin : .pin(pinningMode) }
        }
    }

    var publicKeys: PinnedKeySet {
        PinnedKeySet(certificates: pinnedCertificates, keys: pinnedPublicKeys)
    }
}

/// The keys that a policy pins.
struct PinnedKeySet: Hashable, Sendable {
    private let pins: Set<PublicKeyPin>

    init(certificates: [X509Certificate], keys: Set<PublicKeyPin>) {
        pins = keys.union(certificates.compactMap { try? PublicKeyPin($0) })
    }

    var isEmpty: Bool { pins.isEmpty }

    /// In undefined order.
    var descriptions: [String] { pins.map(\.description) }

    func contains(_ certificate: X509Certificate) -> Bool {
        (try? PublicKeyPin(certificate)).map { pins.contains($0) } ?? false
    }
}

extension ServerTrustError.Check {
    /// A chain that does not lead to a pin fails pinning; a chain that does but is invalid fails for its own
    /// reason.
    fileprivate var asPin: Self {
        switch self {
        case .chain(.unknownAuthority), .chain(.selfSigned): .pin(.certificate)
        default: self
        }
    }
}
