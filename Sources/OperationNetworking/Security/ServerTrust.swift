internal import Foundation
internal import OperationNetworkingSystem

/// The certificates that a server presented, and the result of their verification.
public struct ServerTrust: Hashable, Sendable {
    /// The host of the request; `nil` if no name is compared.
    public let host: String?
    /// The certificates that the server presented, its own first. They are not verified.
    public let certificates: [X509Certificate]
    /// The result of verification with the trusted authorities.
    public let path: Path
    /// The result of verification with the pinned certificates as the only authorities.
    public let pinnedPath: Path

    /// The result of verifying a chain.
    public enum Path: Hashable, Sendable {
        /// A path from the server's certificate to a trusted one.
        case valid([X509Certificate])
        /// There is no valid path, for this reason.
        case invalid(CertificateChainFailure)

        /// The path from the server's certificate to a trusted one; empty if there is none.
        public var certificates: [X509Certificate] {
            switch self {
            case .valid(let certificates): certificates
            case .invalid: []
            }
        }

        var failure: ServerTrustError.Check? {
            switch self {
            case .valid: nil
            case .invalid(let failure): .chain(failure)
            }
        }

        init(_ result: ChainResult) {
            switch result {
            case .valid(let path): self = .valid(path.map(X509Certificate.init(verified:)))
            case .invalid(let failure): self = .invalid(CertificateChainFailure(failure))
            }
        }
    }

    /// Creates a value from known results, for tests of ``SecurityPolicy``.
    ///
    /// - Parameters:
    ///   - host: the host of the request; `nil` if no name is compared.
    ///   - certificates: the certificates that the server presented, its own first.
    ///   - path: the result with the trusted authorities.
    ///   - pinnedPath: the result with the pinned certificates as the only authorities.
    package init(host: String?, certificates: [X509Certificate], path: Path, pinnedPath: Path) {
        self.host = host
        self.certificates = certificates
        self.path = path
        self.pinnedPath = pinnedPath
    }

    /// Verifies a chain as a connection would. Blocks on disk access.
    ///
    /// - Parameters:
    ///   - certificates: the certificates that the server presented, its own first.
    ///   - host: the host of the request; `nil` if no name is compared.
    ///   - anchors: the trusted authorities.
    ///   - policy: the policy, for its pins.
    public init(
        verifying certificates: [X509Certificate],
        for host: String?,
        anchors: TrustAnchors = .system,
        policy: SecurityPolicy
    ) {
        self.init(
            host: host,
            presented: certificates.map(\.der),
            chain: ChainVerifier.verify(certificates.map(\.der), anchors: anchors.verifierAnchors),
            policy: policy
        )
    }

    init(host: String?, presented: [Data], chain: ChainResult, policy: SecurityPolicy) {
        self.host = host
        certificates = presented.map(X509Certificate.init(verified:))
        path = Path(chain)
        guard policy.pinningMode == .certificate else {
            pinnedPath = .invalid(.unknownAuthority)
            return
        }
        let pins = policy.pinnedCertificates.map(\.der)
        pinnedPath = Path(ChainVerifier.verify(presented, anchors: .certificates(pins)))
    }
}

/// Why a certificate chain is not trusted.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CertificateChainFailure: Error, Hashable, Sendable {
    /// A certificate has expired.
    case expired
    /// A certificate is not valid yet.
    case notYetValid
    /// The chain does not lead to a trusted authority. The server may have failed to send an intermediate
    /// certificate.
    case unknownAuthority
    /// The server's certificate is self-signed and not trusted.
    case selfSigned
    /// A certificate was revoked.
    case revoked
    /// Another reason: OpenSSL's `X509_V_ERR_` code and message.
    ///
    /// OpenSSL has about 90 such codes, which depend on its version and are only shown to users. Codes that
    /// programs need to handle have their own cases.
    case other(code: Int, sentence: String)

    init(_ failure: ChainFailure) {
        self =
            switch failure.code {
            case 10, 12, 14: .expired
            case 9, 11, 13: .notYetValid
            case 2, 19, 20, 21, 27: .unknownAuthority
            case 18: .selfSigned
            case 23: .revoked
            default: .other(code: Int(failure.code), sentence: failure.sentence)
            }
    }
}

extension TrustAnchors {
    /// The anchors for a verification without a connection.
    fileprivate var verifierAnchors: ChainVerifier.Anchors {
        switch self {
        case .system:
            AuthorityPlaces.ofProcess.isEmpty
                ? CurlLibrary.authorities
                : .places(
                    file: AuthorityPlaces.ofProcess.file,
                    directory: AuthorityPlaces.ofProcess.directory
                )
        case .file(let url): .places(file: url.path, directory: nil)
        case .directory(let url): .places(file: nil, directory: url.path)
        case .certificates(let certificates): .certificates(certificates.map(\.der))
        }
    }
}
