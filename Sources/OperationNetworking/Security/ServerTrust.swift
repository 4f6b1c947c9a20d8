internal import Foundation
internal import OperationNetworkingSystem

/// A server's identity: the certificates that it presented, and the result of their verification.
public struct ServerTrust: Hashable, Sendable {
    /// The host of the request; `nil`: no name is to be compared.
    public let host: String?
    /// The certificates that the server has presented, its own first. Nothing of them is proven.
    public let certificates: [X509Certificate]
    /// The result by the trusted authorities.
    public let path: Path
    /// The result with the pinned certificates as the only authorities.
    public let pinnedPath: Path

    /// The result of verifying a chain.
    public enum Path: Hashable, Sendable {
        /// From the server's certificate to one that is trusted.
        case valid([X509Certificate])
        /// None leads to one, for this reason.
        case invalid(CertificateChainFailure)

        /// The path from the server's certificate to one that is trusted; empty if there is none.
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

    /// Trust that was found out already: for the tests of ``SecurityPolicy``.
    ///
    /// - Parameters:
    ///   - host: the host of the request; `nil`: no name is to be compared.
    ///   - certificates: those that the server has presented, its own first.
    ///   - path: the result by the trusted authorities.
    ///   - pinnedPath: the result with the pinned certificates as the only authorities.
    package init(host: String?, certificates: [X509Certificate], path: Path, pinnedPath: Path) {
        self.host = host
        self.certificates = certificates
        self.path = path
        self.pinnedPath = pinnedPath
    }

    /// Verifies a chain now, as a connection would. Waits for the disk.
    ///
    /// - Parameters:
    ///   - certificates: those that the server has presented, its own first.
    ///   - host: the host of the request; `nil`: no name is to be compared.
    ///   - anchors: the trusted authorities.
    ///   - policy: what is pinned.
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

/// Why a chain of certificates is not to be trusted.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CertificateChainFailure: Error, Hashable, Sendable {
    /// The time of one of the certificates is over.
    case expired
    /// The time of one of the certificates has not begun.
    case notYetValid
    /// The chain leads to no trusted authority; perhaps the server does not present an intermediate
    /// certificate.
    case unknownAuthority
    /// The server's certificate vouches for itself, and is not trusted.
    case selfSigned
    /// One of the certificates was taken back.
    case revoked
    /// Another reason: OpenSSL's `X509_V_ERR_` code, and its sentence.
    ///
    /// The two have no type of their own: OpenSSL has 90 such codes, another version others, and a program
    /// only shows them. One that programs ask about gets a case.
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
    /// For a verification without a connection.
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
