import COperationNetworking
package import Foundation

/// A certificate with its intermediate certificates and its private key.
package struct KeyPair: Hashable, Sendable {
    /// The certificate and the intermediate certificates, in PEM.
    package let certificates: Data
    /// The unencrypted key, in PEM.
    package let privateKey: Data

    /// Why a key pair could not be read.
    package enum Failure: Error, Hashable, Sendable {
        case noCertificate
        case noPrivateKey
        /// The passphrase is wrong or missing.
        case wrongPassphrase
        /// The encryption is not supported by OpenSSL, or only by its legacy provider.
        case unsupportedEncryption
        /// The key belongs to another certificate.
        case keyMismatch
    }

    /// - Parameters:
    ///   - pem: one or more certificates, the one to use first.
    ///   - key: the private key, in PEM; `nil` if it is in `pem`.
    ///   - passphrase: the passphrase of the key, if it is encrypted.
    /// - Throws: ``Failure``.
    package init(pem: Data, key: Data?, passphrase: String?) throws(Failure) {
        guard let certificates = CertificateReader.certificates(in: pem), let leaf = certificates.first,
            let certificate = X509Certificate(der: leaf)
        else { throw .noCertificate }
        let keyText = key ?? pem
        guard keyText.range(of: Data("PRIVATE KEY-----".utf8)) != nil, let input = OpenSSLInput(keyText)
        else {
            throw .noPrivateKey
        }
        ERR_clear_error()
        defer { ERR_clear_error() }
        let read = Self.withPassphrase(passphrase) {
            PEM_read_bio_PrivateKey(input.pointer, nil, ccertificates_passphrase, $0)
        }
        guard let read else {
            throw ccertificates_knows_no_algorithm() ? .unsupportedEncryption : .wrongPassphrase
        }
        defer { EVP_PKEY_free(read) }
        try self.init(certificate.pointer, Array(certificates.dropFirst()), read)
    }

    /// - Parameters:
    ///   - pkcs12: a certificate, its key and possibly others (RFC 7292).
    ///   - passphrase: its passphrase; empty if it has none.
    /// - Throws: ``Failure``.
    package init(pkcs12: Data, passphrase: String) throws(Failure) {
        let parsed = pkcs12.withUnsafeBytes { bytes -> OpaquePointer? in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            return d2i_PKCS12(nil, &position, bytes.count)
        }
        ERR_clear_error()
        guard let parsed else { throw .noCertificate }
        defer { PKCS12_free(parsed) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let isRead = PKCS12_parse(parsed, passphrase, &key, &certificate, &others) == 1
        let isUnsupported = !isRead && ccertificates_knows_no_algorithm()
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
            ccertificates_free_stack(others)
            ERR_clear_error()
        }
        guard isRead else { throw isUnsupported ? .unsupportedEncryption : .wrongPassphrase }
        guard let certificate else { throw .noCertificate }
        guard let key else { throw .noPrivateKey }
        try self.init(certificate, ChainVerifier.certificates(of: others), key)
    }

    private init(_ leaf: OpaquePointer, _ others: [Data], _ key: OpaquePointer) throws(Failure) {
        defer { ERR_clear_error() }
        guard X509_check_private_key(leaf, key) == 1 else { throw .keyMismatch }
        guard let output = BIO_new(BIO_s_mem()), let keyOutput = BIO_new(BIO_s_secmem()) else {
            throw .noCertificate
        }
        defer {
            BIO_free(output)
            BIO_free(keyOutput)
        }
        guard PEM_write_bio_X509(output, leaf) == 1 else { throw .noCertificate }
        for der in others {
            guard let other = X509Certificate(der: der), PEM_write_bio_X509(output, other.pointer) == 1 else {
                throw .noCertificate
            }
        }
        guard PEM_write_bio_PrivateKey(keyOutput, key, nil, nil, 0, nil, nil) == 1 else {
            throw .noPrivateKey
        }
        certificates = Self.everything(in: output)
        privateKey = Self.everything(in: keyOutput)
    }

    private static func everything(in output: OpaquePointer) -> Data {
        var data = Data()
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Int(BIO_read(output, &piece, Int32(piece.count)))
            guard count > 0 else { return data }
            data.append(contentsOf: piece.prefix(count))
        }
    }

    private static func withPassphrase<Result>(
        _ passphrase: String?,
        _ body: (UnsafeMutableRawPointer?) -> Result
    ) -> Result {
        guard var text = passphrase.map({ Array($0.utf8CString) }) else { return body(nil) }
        defer { text.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
        return text.withUnsafeMutableBytes { body($0.baseAddress) }
    }
}
