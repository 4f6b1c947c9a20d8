public import Foundation

/// The ``SecurityPolicy`` does not accept the server. No byte of the request was sent, unless the server
/// requested another handshake later.
///
/// `NSUnderlyingErrorKey` holds a `URLError`: `.serverCertificateUntrusted`, `.serverCertificateHasBadDate`,
/// `.serverCertificateNotYetValid`, `.serverCertificateHasUnknownRoot`, or
/// `.appTransportSecurityRequiresSecureConnection` for a request without TLS.
public struct ServerTrustError: Error, Hashable, Sendable {
    /// A check that a server must pass.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Check: Hashable, Sendable {
        /// The certificates do not lead to a trusted authority, for this reason.
        case chain(CertificateChainFailure)
        /// The certificate is for other hosts.
        case host
        /// The certificate names no host: it has neither a DNS name nor an IP address as a subjectAltName.
        /// Its common name is ignored ([RFC 9110
        /// §4.3.4](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.4)).
        case noSubjectAlternativeName
        /// The path that the policy examines contains no pinned certificate or key.
        case pin(SecurityPolicy.PinningMode)
        /// The policy requires a pin and has none, so it accepts no server.
        case nothingPinned
        /// The policy pins, but the URL does not use TLS.
        case encryption
    }

    /// The host of the request.
    public let host: String
    /// The check that failed.
    public let check: Check
    /// The certificates that the server presented; `nil` if it was not contacted.
    public let serverTrust: ServerTrust?
    /// The URL of the request.
    public let url: URL

    /// The corresponding `URLError`.
    public var urlError: URLError {
        URLError(code, url: url, sentence: description)
    }

    private var code: URLError.Code {
        switch check {
        case .chain(.expired): .serverCertificateHasBadDate
        case .chain(.notYetValid): .serverCertificateNotYetValid
        case .chain(.unknownAuthority), .chain(.selfSigned): .serverCertificateHasUnknownRoot
        case .chain, .host, .noSubjectAlternativeName, .pin, .nothingPinned: .serverCertificateUntrusted
        case .encryption: .appTransportSecurityRequiresSecureConnection
        }
    }
}

// MARK: - CustomStringConvertible

extension ServerTrustError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        let host = host.excerpt()
        return switch check {
        case .chain(let failure): "The certificate of \(host) is not trusted: \(failure)."
        case .host: "The certificate that \(host) presented is for another host\(subject)."
        case .noSubjectAlternativeName:
            "The certificate that \(host) presented names no host in a subjectAltName\(subject)."
        case .pin(.publicKey): "The public key of \(host) is not pinned."
        case .pin: "The certificate of \(host) is neither pinned nor issued by a pinned one."
        case .nothingPinned:
            "The security policy requires a pin for \(host) but has none."
        case .encryption:
            "The security policy pins certificates, which http does not have: \(host) was not contacted."
        }
    }

    private var subject: String {
        guard let subject = serverTrust?.certificates.first?.subject, !subject.isEmpty else { return "" }
        return ", \(subject.excerpt())"
    }
}

extension CertificateChainFailure: CustomStringConvertible {
    /// A phrase without a capital and a full stop.
    public var description: String {
        switch self {
        case .expired: "a certificate has expired"
        case .notYetValid: "a certificate is not valid yet"
        case .unknownAuthority:
            "its authority is unknown, or the server did not send an intermediate certificate"
        case .selfSigned: "it is self-signed"
        case .revoked: "a certificate was revoked"
        case .other(_, let sentence): sentence
        }
    }
}

// MARK: - CustomNSError, LocalizedError

extension ServerTrustError: CustomNSError, LocalizedError {
    /// The domain of the `NSError`.
    public static let errorDomain = "OperationNetworking.ServerTrustError"

    /// The code of ``urlError``.
    public var errorCode: Int { urlError.errorCode }

    /// The URL, the description, and the underlying `URLError`.
    public var errorUserInfo: [String: Any] {
        [
            NSURLErrorFailingURLErrorKey: url, NSLocalizedDescriptionKey: description,
            NSUnderlyingErrorKey: urlError,
        ]
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension ServerTrustError: ClassifiedError {
    package var traits: FailureTraits {
        FailureTraits(code: urlError.code, isUntrusted: true)
    }
}
