import COperationNetworking
package import Foundation

/// An owned OpenSSL certificate, `X509 *`.
struct X509Certificate: ~Copyable {
    let pointer: OpaquePointer

    /// Takes ownership of the reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// - Returns: `nil` unless the data is exactly one certificate in DER.
    init?(der: Data) {
        let made = der.withUnsafeBytes { bytes -> OpaquePointer? in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            guard let made = d2i_X509(nil, &position, bytes.count) else { return nil }
            guard position == bytes.bindMemory(to: UInt8.self).baseAddress.map({ $0 + bytes.count }) else {
                X509_free(made)
                return nil
            }
            return made
        }
        ERR_clear_error()
        guard let made else { return nil }
        pointer = made
    }

    deinit {
        X509_free(pointer)
    }

    /// Returns a borrowed certificate in DER.
    static func der(of pointer: OpaquePointer) -> Data {
        encoded { i2d_X509(pointer, $0) }
    }

    /// Returns the DER from an `i2d` function of OpenSSL.
    static func encoded(
        _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> Data {
        let count = Int(write(nil))
        guard count > 0 else { return Data() }
        var data = Data(count: count)
        let written = data.withUnsafeMutableBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            return Int(write(&position))
        }
        return written == count ? data : Data()
    }
}

/// Bytes that OpenSSL reads like a file: a `BIO *`.
struct OpenSSLInput: ~Copyable {
    let pointer: OpaquePointer
    // OpenSSL reads it in place.
    private let bytes: UnsafeMutableRawBufferPointer

    init?(_ data: Data) {
        bytes = .allocate(byteCount: max(1, data.count), alignment: 1)
        data.copyBytes(to: bytes)
        guard let made = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: data.count)) else {
            bytes.deallocate()
            return nil
        }
        pointer = made
    }

    deinit {
        BIO_free(pointer)
        // It may have been a private key.
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }
}

/// Reads certificates with OpenSSL.
package enum CertificateReader {
    /// Returns the certificates in a file's bytes, each in DER. The input is one certificate in DER, or any
    /// number in PEM with arbitrary text between them.
    ///
    /// - Returns: `nil` if one is broken or there is none.
    package static func certificates(in data: Data) -> [Data]? {
        if let one = X509Certificate(der: data) { return [X509Certificate.der(of: one.pointer)] }
        guard let input = OpenSSLInput(data) else { return nil }
        var found: [Data] = []
        ERR_clear_error()
        while let next = PEM_read_bio_X509_AUX(input.pointer, nil, ccertificates_passphrase, nil) {
            let certificate = X509Certificate(owning: next)
            found.append(X509Certificate.der(of: certificate.pointer))
        }
        // The end of the file is reported as a missing start line.
        let reason = ERR_peek_last_error()
        let isEnd =
            reason & 0x7FFFFF == UInt(PEM_R_NO_START_LINE) && (reason >> 23) & 0xFF == UInt(ERR_LIB_PEM)
        ERR_clear_error()
        return found.isEmpty || !isEnd ? nil : found
    }

    /// The certificate's public key, with its algorithm: a SubjectPublicKeyInfo in DER ([RFC 5280
    /// §4.1.2.7](https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.7)); `nil` if `der` is not a
    /// certificate.
    package static func publicKey(of der: Data) -> Data? {
        guard let certificate = X509Certificate(der: der) else { return nil }
        let key = X509_get_X509_PUBKEY(certificate.pointer)
        return X509Certificate.encoded { i2d_X509_PUBKEY(key, $0) }
    }

    /// The certificate's subject on one line, as in `CN=localhost,O=Example` (RFC 2253).
    package static func subject(of der: Data) -> String? {
        guard let certificate = X509Certificate(der: der), let output = BIO_new(BIO_s_mem()) else {
            return nil
        }
        defer { BIO_free(output) }
        ccertificates_print_subject(output, certificate.pointer)
        var text = [UInt8](repeating: 0, count: 1024)
        let count = max(0, Int(BIO_read(output, &text, Int32(text.count))))
        return String(decoding: text.prefix(count), as: UTF8.self)
    }

    /// Whether the certificate has a DNS name or an IP address among its alternative names.
    package static func hasAlternativeNames(_ der: Data) -> Bool {
        guard let certificate = X509Certificate(der: der) else { return false }
        defer { ERR_clear_error() }
        return ccertificates_has_alternative_names(certificate.pointer)
    }

    /// Whether the certificate is for `host`: a name, which its wildcards may match ([RFC 6125
    /// §6.4](https://www.rfc-editor.org/rfc/rfc6125#section-6.4)), or an address. With `byCommonName`, the
    /// subject's common name is used if there are no alternative names, as in libcurl; it never matches an
    /// address.
    package static func isCertificate(_ der: Data, for host: String, byCommonName: Bool = false) -> Bool {
        // OpenSSL treats a leading dot as matching any subdomain (X509_check_host(3)).
        guard let certificate = X509Certificate(der: der), !host.isEmpty, !host.hasPrefix("."),
            !host.utf8.contains(0)
        else { return false }
        if let address = a2i_IPADDRESS(host) {
            ASN1_OCTET_STRING_free(address)
            return X509_check_ip_asc(certificate.pointer, host, 0) == 1
        }
        let usesSubject = byCommonName && !ccertificates_has_alternative_names(certificate.pointer)
        ERR_clear_error()
        let flags = UInt32(
            X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | (usesSubject ? 0 : X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        )
        return X509_check_host(certificate.pointer, host, host.utf8.count, flags, nil) == 1
    }
}
