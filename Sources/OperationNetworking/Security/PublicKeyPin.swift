public import Foundation
internal import OperationNetworkingSystem

/// A pin of a server's public key: the SHA-256 of its SubjectPublicKeyInfo in DER ([RFC 7469
/// §2.4](https://www.rfc-editor.org/rfc/rfc7469#section-2.4)). It stays valid when the certificate is renewed
/// with the same key.
public struct PublicKeyPin: Hashable, Sendable {
    /// The 32 bytes of the digest.
    public let sha256: Data

    /// - Parameter text: `sha256//` followed by the 32 bytes in base64, as in curl's `--pinnedpubkey`.
    /// - Throws: ``CertificateError/noPublicKeyPin(_:)``.
    public init(_ text: String) throws(CertificateError) {
        guard text.hasPrefix(Self.prefix),
            let digest = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            digest.count == 32
        else { throw .noPublicKeyPin(text) }
        sha256 = digest
    }

    /// Creates a pin of a certificate's key.
    public init(_ certificate: X509Certificate) throws(CertificateError) {
        guard let key = CertificateReader.publicKey(of: certificate.der), let digest = Self.digest(key) else {
            throw .noCertificate(certificate.subject)
        }
        sha256 = digest
    }

    private static let prefix = "sha256//"

    private static func digest(_ key: Data) -> Data? {
        guard let digest = try? MessageDigest(.sha256) else { return nil }
        digest.update(key.span)
        return (try? digest.finish()).map { Data($0) }
    }
}

// MARK: - CustomStringConvertible

extension PublicKeyPin: CustomStringConvertible {
    /// The text that ``init(_:)-(String)`` reads.
    public var description: String { Self.prefix + sha256.base64EncodedString() }
}

// MARK: - Codable

extension PublicKeyPin: Codable {
    /// - Throws: `DecodingError` if the text is not a pin.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(CertificateError) {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Encodes the ``description``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
