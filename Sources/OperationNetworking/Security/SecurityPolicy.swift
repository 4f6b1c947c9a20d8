internal import Foundation

/// Certificate pinning and host name checks: the servers an operation talks to, beyond what their authorities
/// say.
///
/// | Mode           | `allowInvalidCertificates` | Accepted is                                                                |
/// |----------------|----------------------------|----------------------------------------------------------------------------|
/// | `.none`        | no                         | a chain that leads to a trusted authority                                  |
/// | `.none`        | yes                        | everything, but only if names are not compared: else nothing               |
/// | `.publicKey`   | no                         | such a chain, with a pinned key in the path that was verified              |
/// | `.publicKey`   | yes                        | a server whose own certificate has a pinned key                            |
/// | `.certificate` | no                         | such a chain, which is also valid with the pins as the only authorities    |
/// | `.certificate` | yes                        | a chain that is valid with the pins as the only authorities                |
///
/// In every mode, while ``validatesDomainName`` is set, the certificate has to be for the host, by its
/// subjectAltName. If it has no subjectAltName, its common name counts, but only where invalid certificates
/// are allowed and this one is pinned. `.publicKey` and `.certificate` without a pin accept no server. A
/// policy with pins refuses requests without TLS.
public struct SecurityPolicy: Hashable, Codable, Sendable {
    /// The part of a certificate that is compared with the pins.
    public enum PinningMode: String, Hashable, Codable, Sendable, CaseIterable {
        /// Nothing: there are no pins.
        case none
        /// Public keys. A certificate can be renewed as long as its key stays.
        case publicKey
        /// Certificates.
        case certificate
    }

    private var format = ArchiveFormat()

    /// The part of a certificate that is compared with the pins.
    public var pinningMode: PinningMode

    /// The pins: one of these certificates, or its key, as the mode says, has to be in the server's path.
    /// None occurs twice.
    public var pinnedCertificates: [X509Certificate] {
        didSet { pinnedCertificates = Self.unique(pinnedCertificates) }
    }

    /// Further keys, for ``PinningMode/publicKey``: pins without a certificate, such as a spare key's. Other
    /// modes ignore them.
    public var pinnedPublicKeys: Set<PublicKeyPin>

    /// Whether a certificate counts that is expired, self-signed or issued by an unknown authority.
    public var allowInvalidCertificates: Bool

    /// Whether the certificate has to be one for the URL's host.
    public var validatesDomainName: Bool

    /// - Parameters:
    ///   - pinningMode: what is compared with the pins.
    ///   - pinnedCertificates: see ``X509Certificate`` for how to read them from data, a file or a directory.
    ///   - pinnedPublicKeys: further keys, for ``PinningMode/publicKey``.
    ///   - allowInvalidCertificates: whether a certificate counts that no authority vouches for.
    ///   - validatesDomainName: whether the certificate has to be one for the host.
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

    /// The authorities decide, and the certificate has to be one for the host.
    public static let `default` = SecurityPolicy()

    /// Refuses a URL without TLS if there are pins: its server presents no certificate.
    func check(_ url: URL) throws(ServerTrustError) {
        guard pins, !url.isTLS else { return }
        throw ServerTrustError(host: url.host ?? "", check: .encryption, serverTrust: nil, url: url)
    }

    /// Whether it compares anything with pins.
    package var pins: Bool { pinningMode != .none }

    private static func unique(_ certificates: [X509Certificate]) -> [X509Certificate] {
        var seen: Set<X509Certificate> = []
        return certificates.filter { seen.insert($0).inserted }
    }
}

extension URL {
    /// Whether it is asked for over TLS.
    var isTLS: Bool { scheme?.lowercased() == "https" }
}

// MARK: - The verdict

extension SecurityPolicy {
    /// Judges a server. A pure function of the policy and of what is known about the server.
    ///
    /// - Parameter trust: the server's certificates, and the result of their verification.
    /// - Returns: which check failed; `nil`: none, the server may be talked to.
    public func failedCheck(of trust: ServerTrust) -> ServerTrustError.Check? {
        if let failure = failureOfPath(in: trust) { return failure }
        guard validatesDomainName, let host = trust.host else { return nil }
        guard let leaf = trust.certificates.first else { return .host }
        return failureOfName(host, in: leaf)
    }

    private func failureOfName(_ host: String, in leaf: X509Certificate) -> ServerTrustError.Check? {
        if leaf.isIssued(to: host) { return nil }
        // For a handmade certificate that is pinned, the pin has proven whose it is (SEC-36).
        if pins, allowInvalidCertificates, isPinned(leaf) {
            return leaf.isIssuedByAnyMeans(to: host) ? nil : .host
        }
        return leaf.hasAlternativeNames ? .host : .noSubjectAlternativeName
    }

    /// Whether the server's own certificate is pinned, and not only one above it.
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
            // Comparing the names of certificates that nothing verifies proves nothing: they can hold any
            // name.
            return validatesDomainName && trust.host != nil ? .nothingPinned : nil
        case .publicKey:
            let pins = publicKeys
            guard !pins.isEmpty else { return .nothingPinned }
            if let failure = allowInvalidCertificates ? nil : trust.path.failure { return failure }
            // A certificate that was only presented proves nothing: an attacker can append a genuine one to a
            // chain of his own (F38).
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

    /// In no order.
    var descriptions: [String] { pins.map(\.description) }

    func contains(_ certificate: X509Certificate) -> Bool {
        (try? PublicKeyPin(certificate)).map { pins.contains($0) } ?? false
    }
}

extension ServerTrustError.Check {
    /// A chain that does not lead to a pin is one thing; one that does, and is not valid, is another.
    fileprivate var asPin: Self {
        switch self {
        case .chain(.unknownAuthority), .chain(.selfSigned): .pin(.certificate)
        default: self
        }
    }
}
