public import Foundation
internal import OperationNetworkingSystem

/// The certificate and private key with which a client authenticates itself ([RFC 8446
/// §4.4.2](https://www.rfc-editor.org/rfc/rfc8446#section-4.4.2)).
///
/// The key is held in memory, unencrypted. It is never printed or encoded.
public struct ClientIdentity: Hashable, Sendable {
    let keyPair: KeyPair

    /// - Parameters:
    ///   - pem: the certificate, followed by any intermediate certificates, in PEM or DER.
    ///   - key: the private key, in PEM; `nil` if it is in `pem`.
    ///   - passphrase: the passphrase of the private key, if it is encrypted.
    /// - Throws: ``CertificateError``.
    public init(pem: Data, key: Data? = nil, passphrase: String? = nil) throws(CertificateError) {
        try self.init(certificates: "the data", key: "the data") { () throws(KeyPair.Failure) in
            try KeyPair(pem: pem, key: key, passphrase: passphrase)
        }
    }

    /// Creates an identity from files. Blocks on disk access.
    ///
    /// - Parameters:
    ///   - pemFile: the certificate, followed by any intermediate certificates, in PEM or DER.
    ///   - keyFile: the private key, in PEM; `nil` if it is in `pemFile`.
    ///   - passphrase: the passphrase of the private key, if it is encrypted.
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
    ///   - passphrase: the passphrase of the file.
    /// - Throws: ``CertificateError``.
    public init(pkcs12: Data, passphrase: String) throws(CertificateError) {
        try self.init(certificates: "the data", key: "the data") { () throws(KeyPair.Failure) in
            try KeyPair(pkcs12: pkcs12, passphrase: passphrase)
        }
    }

    /// Creates an identity from a PKCS#12 file. Blocks on disk access.
    ///
    /// - Parameters:
    ///   - pkcs12File: a certificate with its key.
    ///   - passphrase: the passphrase of the file.
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
    /// The subject of the certificate, without the key.
    public var description: String { "<ClientIdentity: \(certificate?.subject ?? "")>" }

    /// The certificate, without the key.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": certificate as Any]) }
}
