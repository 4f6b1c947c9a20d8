public import Foundation
internal import OperationNetworkingSystem

/// A pin of a server's public key: the SHA-256 of its SubjectPublicKeyInfo in DER, as in
/// [RFC 7469 §2.4](https://www.rfc-editor.org/rfc/rfc7469#section-2.4). It outlives the certificate, if the
/// key does.
public struct PublicKeyPin: Hashable, Sendable {
    /// 32 bytes.
    public let sha256: Data

    /// - Parameter text: `sha256//` and the base64 of the 32 bytes, as curl's `--pinnedpubkey` has it.
    /// - Throws: ``CertificateError/noPublicKeyPin(_:)``.
    public init(_ text: String) throws(CertificateError) {
        guard text.hasPrefix(Self.prefix),
            let digest = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            digest.count == 32
        else { throw .noPublicKeyPin(text) }
        sha256 = digest
    }

    /// The pin of a certificate's key.
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
    /// - Throws: `DecodingError` for what is no pin.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(CertificateError) {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Encodes its ``description``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
