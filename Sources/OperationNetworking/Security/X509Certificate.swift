public import Foundation
internal import OperationNetworkingSystem

/// An X.509 certificate ([RFC 5280](https://www.rfc-editor.org/rfc/rfc5280)), validated to be parseable.
public struct X509Certificate: Hashable, Sendable {
    /// The certificate in DER.
    public let der: Data

    /// - Parameter der: exactly one certificate in DER.
    /// - Throws: ``CertificateError/noCertificate(_:)``.
    public init(der: Data) throws(CertificateError) {
        guard let found = CertificateReader.certificates(in: der), found == [der] else {
            throw .noCertificate("the data")
        }
        self.der = der
    }

    /// Creates a certificate from data that OpenSSL has already parsed.
    init(verified der: Data) {
        self.der = der
    }

    /// Returns the certificates in `data`: one in DER, or any number in PEM. Text between PEM blocks is
    /// ignored.
    ///
    /// - Throws: ``CertificateError/noCertificate(_:)`` if one is broken or there is none.
    public static func all(in data: Data) throws(CertificateError) -> [X509Certificate] {
        try all(in: data, named: "the data")
    }

    /// Returns the certificates in a file, DER or PEM. Blocks on disk access.
    ///
    /// - Throws: ``CertificateError``.
    public static func all(contentsOf file: URL) throws(CertificateError) -> [X509Certificate] {
        try all(in: contents(of: file), named: file.path)
    }

    /// Returns the contents of a file, which may be a pipe.
    static func contents(of file: URL) throws(CertificateError) -> Data {
        do {
            return try Data(contentsOf: file)
        } catch {
            // Foundation's message does not say that it is a directory.
            let values = try? file.resourceValues(forKeys: [.isDirectoryKey])
            throw .unreadable(
                file.path,
                reason: values?.isDirectory == true ? "it is a directory" : error.localizedDescription
            )
        }
    }

    /// Returns the certificates in a directory's files with the extension `cer`, `crt`, `der` or `pem`,
    /// sorted by file name. Blocks on disk access.
    ///
    /// - Throws: ``CertificateError``; also if there is no such file, because an empty list of pins would
    ///   trust no server.
    public static func all(inDirectory directory: URL) throws(CertificateError) -> [X509Certificate] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        } catch {
            throw .unreadable(directory.path, reason: error.localizedDescription)
        }
        let files = names.filter { extensions.contains(($0 as NSString).pathExtension.lowercased()) }.sorted()
        guard !files.isEmpty else { throw .noCertificate(directory.path) }
        var found: [X509Certificate] = []
        for name in files { found += try all(contentsOf: directory.appendingPathComponent(name)) }
        return found
    }

    private static let extensions = ["cer", "crt", "der", "pem"]

    private static func all(in data: Data, named name: String) throws(CertificateError) -> [X509Certificate] {
        guard let found = CertificateReader.certificates(in: data) else { throw .noCertificate(name) }
        return found.map(X509Certificate.init(verified:))
    }

    /// The subject on one line, as in `CN=localhost,O=Example` (RFC 2253).
    public var subject: String { CertificateReader.subject(of: der) ?? "" }

    /// Whether the certificate is for a host name, which a wildcard may match, or for an IP address ([RFC
    /// 6125 §6.4](https://www.rfc-editor.org/rfc/rfc6125#section-6.4)). Only the subjectAltName is used, not
    /// the subject's common name ([RFC 9110 §4.3.4](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.4)).
    public func isIssued(to host: String) -> Bool {
        CertificateReader.isCertificate(der, for: Self.comparable(host))
    }

    /// The same, but for a certificate without alternative names the common name is used.
    func isIssuedByAnyMeans(to host: String) -> Bool {
        CertificateReader.isCertificate(der, for: Self.comparable(host), byCommonName: true)
    }

    /// Whether it has a DNS name or an IP address as a subjectAltName.
    var hasAlternativeNames: Bool { CertificateReader.hasAlternativeNames(der) }

    /// Returns an address without brackets and zone, or a name without the trailing dot.
    private static func comparable(_ host: String) -> String {
        var host = host[...]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        if let zone = host.firstIndex(of: "%"), host.contains(":") { host = host[..<zone] }
        if host.last == "." { host = host.dropLast() }
        return String(host)
    }
}

// MARK: - Codable

extension X509Certificate: Codable {
    /// - Throws: `DecodingError` if the data is not a certificate.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do throws(CertificateError) {
            try self.init(der: container.decodeData())
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Encodes the DER as data: base64 in JSON.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(der)
    }
}

extension SingleValueDecodingContainer {
    fileprivate func decodeData() throws(CertificateError) -> Data {
        guard let data = try? decode(Data.self) else { throw .noCertificate("the value") }
        return data
    }
}

// MARK: - CustomStringConvertible

extension X509Certificate: CustomStringConvertible {
    /// The subject.
    public var description: String { "<X509Certificate: \(subject)>" }
}

/// Why there is no ``X509Certificate``, ``PublicKeyPin`` or ``ClientIdentity``.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CertificateError: Error, Hashable, Sendable {
    /// The data has no certificate, in DER or PEM, or a broken one. The associated value names the source.
    case noCertificate(String)
    /// The file or directory cannot be read.
    case unreadable(String, reason: String)
    /// The text is not `sha256//` and 32 bytes in base64.
    case noPublicKeyPin(String)
    /// The source has no private key.
    case noPrivateKey(String)
    /// The private key or PKCS#12 file is encrypted with another passphrase, or it is broken.
    case wrongPassphrase(String)
    /// The private key or PKCS#12 file uses an encryption that this OpenSSL does not support, such as RC2 or
    /// single DES.
    case unsupportedEncryption(String)
    /// The private key does not belong to the certificate.
    case keyMismatch(String)
}

// MARK: - CustomStringConvertible

extension CertificateError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .noCertificate(let place):
            "Expected a certificate in DER or PEM: \(place) has none, or a malformed one."
        case .unreadable(let path, let reason):
            "\(path) cannot be read: \(reason)"
        case .noPublicKeyPin(let text):
            "A public key pin is sha256// followed by 32 bytes in base64, not \(text.debugDescription)."
        case .noPrivateKey(let place):
            "Expected a private key: \(place) has none."
        case .wrongPassphrase(let place):
            "The private key in \(place) cannot be read: the passphrase is wrong or missing, or the key is malformed."
        case .unsupportedEncryption(let place):
            "The private key in \(place) uses an old encryption that OpenSSL does not support: export it again "
                + "with AES (openssl pkcs12 -legacy can read it)."
        case .keyMismatch(let place):
            "The private key in \(place) does not belong to the certificate."
        }
    }
}

// MARK: - LocalizedError

extension CertificateError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension CertificateError: ClassifiedError {
    package var traits: FailureTraits {
        .mistake
    }
}
