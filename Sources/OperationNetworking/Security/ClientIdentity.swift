public import Foundation
internal import OperationNetworkingSystem

/// The certificate and the private key by which a client authenticates itself
/// ([RFC 8446 §4.4.2](https://www.rfc-editor.org/rfc/rfc8446#section-4.4.2)).
///
/// The key is in memory, not encrypted; it is never printed, coded or archived.
public struct ClientIdentity: Hashable, Sendable {
    let keyPair: KeyPair

    /// - Parameters:
    ///   - pem: the certificate, and after it those that lead to its authority, in PEM or DER.
    ///   - key: the private key, in PEM; `nil`: it is in `pem`, too.
    ///   - passphrase: of the private key, if it is encrypted.
    /// - Throws: ``CertificateError``.
    public init(pem: Data, key: Data? = nil, passphrase: String? = nil) throws(CertificateError) {
        try self.init(certificates: "the data", key: "the data") { () throws(KeyPair.Failure) in
            try KeyPair(pem: pem, key: key, passphrase: passphrase)
        }
    }

    /// The same from files. Waits for the disk.
    ///
    /// - Parameters:
    ///   - pemFile: the certificate, and after it those that lead to its authority, in PEM or DER.
    ///   - keyFile: the private key, in PEM; `nil`: it is in `pemFile`, too.
    ///   - passphrase: of the private key, if it is encrypted.
    /// - Throws: ``CertificateError``.
    public init(pemFile: URL, keyFile: URL? = nil, passphrase: String? = nil) throws(CertificateError) {
        let pem = try X509Certificate.contents(of: pemFile)
        var key: Data?
        if let keyFile { key = try X509Certificate.contents(of: keyFile) }
        try self.init(certificates: pemFile.path, key: (keyFile ?? pemFile).path) {
            () throws(KeyPair.Failure) in
            try KeyPair(pem: pem, key: key, passphrase: passphrase)
        }
    }

    /// - Parameters:
    ///   - pkcs12: a certificate with its key ([RFC 7292](https://www.rfc-editor.org/rfc/rfc7292)).
    ///   - passphrase: of the whole.
    /// - Throws: ``CertificateError``.
    public init(pkcs12: Data, passphrase: String) throws(CertificateError) {
        try self.init(certificates: "the data", key: "the data") { () throws(KeyPair.Failure) in
            try KeyPair(pkcs12: pkcs12, passphrase: passphrase)
        }
    }

    /// The same from a file. Waits for the disk.
    ///
    /// - Parameters:
    ///   - pkcs12File: a certificate with its key.
    ///   - passphrase: of the whole.
    /// - Throws: ``CertificateError``.
    public init(pkcs12File: URL, passphrase: String) throws(CertificateError) {
        let pkcs12 = try X509Certificate.contents(of: pkcs12File)
        try self.init(certificates: pkcs12File.path, key: pkcs12File.path) { () throws(KeyPair.Failure) in
            try KeyPair(pkcs12: pkcs12, passphrase: passphrase)
        }
    }

    private init(
        certificates: String,
        key: String,
        _ make: () throws(KeyPair.Failure) -> KeyPair
    ) throws(CertificateError) {
        do throws(KeyPair.Failure) {
            keyPair = try make()
        } catch {
            switch error {
            case .noCertificate: throw .noCertificate(certificates)
            case .noPrivateKey: throw .noPrivateKey(key)
            case .wrongPassphrase: throw .wrongPassphrase(key)
            case .unsupportedEncryption: throw .unsupportedEncryption(key)
            case .keyMismatch: throw .keyMismatch(key)
            }
        }
    }

    /// The client's own certificate.
    public var certificate: X509Certificate? {
        CertificateReader.certificates(in: keyPair.certificates)?.first.map(X509Certificate.init(verified:))
    }
}

// MARK: - CustomStringConvertible, CustomReflectable

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// The subject; nothing of the key.
    public var description: String { "<ClientIdentity: \(certificate?.subject ?? "")>" }

    /// Nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": certificate as Any]) }
}
