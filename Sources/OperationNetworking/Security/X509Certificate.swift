public import Foundation
internal import OperationNetworkingSystem

/// An X.509 certificate ([RFC 5280](https://www.rfc-editor.org/rfc/rfc5280)), as bytes that are known to be
/// one.
public struct X509Certificate: Hashable, Sendable {
    /// The certificate in DER.
    public let der: Data

    /// - Parameter der: one certificate in DER, and nothing else.
    /// - Throws: ``CertificateError/noCertificate(_:)``.
    public init(der: Data) throws(CertificateError) {
        guard let found = CertificateReader.certificates(in: der), found == [der] else {
            throw .noCertificate("the data")
        }
        self.der = der
    }

    /// One that OpenSSL has read already.
    init(verified der: Data) {
        self.der = der
    }

    /// The certificates in `data`: one in DER, or any number in PEM, with whatever text stands between them.
    ///
    /// - Throws: ``CertificateError/noCertificate(_:)`` when one is broken, or there is none.
    public static func all(in data: Data) throws(CertificateError) -> [X509Certificate] {
        try all(in: data, named: "the data")
    }

    /// The certificates in a file, DER or PEM. Waits for the disk.
    ///
    /// - Throws: ``CertificateError``.
    public static func all(contentsOf file: URL) throws(CertificateError) -> [X509Certificate] {
        try all(in: contents(of: file), named: file.path)
    }

    /// The contents of a file, which may be a pipe.
    static func contents(of file: URL) throws(CertificateError) -> Data {
        do {
            return try Data(contentsOf: file)
        } catch {
            // Foundation only says of a directory that it could not be read.
            let values = try? file.resourceValues(forKeys: [.isDirectoryKey])
            throw .unreadable(
                file.path,
                reason: values?.isDirectory == true ? "it is a directory" : error.localizedDescription
            )
        }
    }

    /// The certificates in those files of a directory whose names end in `.cer`, `.crt`, `.der` or `.pem`, in
    /// the order of the names. Waits for the disk.
    ///
    /// - Throws: ``CertificateError``; also when there is no such file: an empty list of pins would trust no
    ///   server.
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

    /// Whether it is one for a host name, for which a wildcard may stand, or for an IP address
    /// ([RFC 6125 §6.4](https://www.rfc-editor.org/rfc/rfc6125#section-6.4)). Only its subjectAltName counts:
    /// the common name of the subject is no host name
    /// ([RFC 9110 §4.3.4](https://www.rfc-editor.org/rfc/rfc9110#section-4.3.4)).
    public func isIssued(to host: String) -> Bool {
        CertificateReader.isCertificate(der, for: Self.comparable(host))
    }

    /// The same, but in a certificate without any alternative name the common name counts for a host name.
    func isIssuedByAnyMeans(to host: String) -> Bool {
        CertificateReader.isCertificate(der, for: Self.comparable(host), byCommonName: true)
    }

    /// Whether it has a DNS name or an IP address as a subjectAltName.
    var hasAlternativeNames: Bool { CertificateReader.hasAlternativeNames(der) }

    /// An address without its brackets and zone, a name without the dot of the root.
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
    /// - Throws: `DecodingError` for what is no certificate.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do throws(CertificateError) {
            try self.init(der: container.decodeData())
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Encodes the DER, as the encoder encodes data: base64 in JSON.
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
    /// Data with an entry that is no certificate, neither in DER nor in PEM, or without any; the associated
    /// value says where.
    case noCertificate(String)
    /// The file or directory cannot be read.
    case unreadable(String, reason: String)
    /// The text is not `sha256//` and 32 bytes in base64.
    case noPublicKeyPin(String)
    /// There is no private key where one is expected.
    case noPrivateKey(String)
    /// The private key, or the PKCS#12 file, is encrypted with another passphrase; or it is broken.
    case wrongPassphrase(String)
    /// The private key, or the PKCS#12 file, is encrypted in a way that this OpenSSL does not read, as with
    /// RC2 or single DES.
    case unsupportedEncryption(String)
    /// The private key is not the one of the certificate.
    case keyMismatch(String)
}

// MARK: - CustomStringConvertible

extension CertificateError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .noCertificate(let place):
            "A certificate was expected, in DER or PEM: \(place) has none, or a broken one."
        case .unreadable(let path, let reason):
            "\(path) cannot be read: \(reason)"
        case .noPublicKeyPin(let text):
            "The pin of a public key is sha256// and the base64 of 32 bytes, not \(text.debugDescription)."
        case .noPrivateKey(let place):
            "A private key was expected: \(place) has none."
        case .wrongPassphrase(let place):
            "The private key in \(place) cannot be read: the passphrase is wrong or missing, or the key is broken."
        case .unsupportedEncryption(let place):
            "The private key in \(place) is encrypted in an old way that OpenSSL does not read: export it again, "
                + "with AES (openssl pkcs12 -legacy reads it)."
        case .keyMismatch(let place):
            "The private key in \(place) is not that of the certificate."
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
