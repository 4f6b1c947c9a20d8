public import Foundation

/// The server is not one to talk to, as the ``SecurityPolicy`` has it. Not a byte of the request was sent,
/// unless the server asked for another handshake later.
///
/// Its `NSUnderlyingErrorKey` is a `URLError`: `.serverCertificateUntrusted`, `.serverCertificateHasBadDate`,
/// `.serverCertificateNotYetValid`, `.serverCertificateHasUnknownRoot`, or
/// `.appTransportSecurityRequiresSecureConnection` for a request without TLS.
public struct ServerTrustError: Error, Hashable, Sendable {
    /// A check that a server has to pass.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Check: Hashable, Sendable {
        /// The certificates do not lead to a trusted authority; why.
        case chain(CertificateChainFailure)
        /// The certificate is one for other hosts.
        case host
        /// The certificate does not say for which hosts it is: it has neither a DNS name nor an IP address as
        /// a subjectAltName. Its common name does not count ([RFC 9110
        /// §4.3.4](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.4)).
        case noSubjectAlternativeName
        /// No pinned certificate or key is in the path that the policy looks at.
        case pin(SecurityPolicy.PinningMode)
        /// The policy wants a pin and has none: it accepts no server.
        case nothingPinned
        /// The policy pins, and the URL has no TLS.
        case encryption
    }

    /// The host of the request.
    public let host: String
    /// The check that failed.
    public let check: Check
    /// The certificates that the server has presented; `nil` if it was not asked.
    public let serverTrust: ServerTrust?
    /// The URL of the request.
    public let url: URL

    /// The same in Foundation's terms.
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
        case .pin(.publicKey): "The public key of \(host) is not one that is pinned."
        case .pin: "The certificate of \(host) is not one that is pinned, nor issued by one."
        case .nothingPinned:
            "The security policy accepts \(host) only with a pin, and pins nothing."
        case .encryption: "The security policy pins certificates, and http has none: \(host) was not asked."
        }
    }

    private var subject: String {
        guard let subject = serverTrust?.certificates.first?.subject, !subject.isEmpty else { return "" }
        return ", \(subject.excerpt())"
    }
}

extension CertificateChainFailure: CustomStringConvertible {
    /// Without a capital and a full stop.
    public var description: String {
        switch self {
        case .expired: "a certificate has expired"
        case .notYetValid: "a certificate is not valid yet"
        case .unknownAuthority: "its authority is unknown, or the server did not send what leads there"
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

    /// The number of the check.
    public var errorCode: Int { urlError.errorCode }

    /// The URL, the sentence, and the `URLError` beneath.
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
