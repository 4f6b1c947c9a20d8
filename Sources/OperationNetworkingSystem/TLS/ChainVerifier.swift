import COperationNetworking
package import Foundation

/// The result of verifying a chain of certificates (X509_verify_cert(3)).
package enum ChainResult: Hashable, Sendable {
    /// The path from the leaf to a trusted certificate, each in DER.
    case valid(path: [Data])
    case invalid(ChainFailure)
}

/// Why a chain is not trusted.
package struct ChainFailure: Error, Hashable, Sendable {
    /// The `X509_V_ERR_...` code.
    package let code: Int32
    /// The position of the certificate that failed, counted from the leaf.
    package let depth: Int
    /// OpenSSL's message.
    package let sentence: String

    init(code: Int32, depth: Int) {
        self.code = code
        self.depth = depth
        sentence = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
    }
}

/// Builds and verifies paths from a server's certificate to a trusted one.
package enum ChainVerifier {
    /// The trusted certificates.
    package enum Anchors: Hashable, Sendable {
        /// These certificates, each in DER. Each is trusted, whether or not it is self-signed.
        case certificates([Data])
        /// PEM files, and directories prepared by `openssl rehash`.
        case places(file: String?, directory: String?)
    }

    /// Verifies the certificates that a TLS server presented, its own first, at the current time.
    package static func verify(_ presented: [Data], anchors: Anchors) -> ChainResult {
        guard let store = makeStore(anchors) else { return failed }
        defer { X509_STORE_free(store) }
        guard let stack = ccertificates_new_stack() else { return failed }
        defer { ccertificates_free_stack(stack) }
        for der in presented {
            guard let certificate = X509Certificate(der: der),
                ccertificates_push(stack, certificate.pointer)
            else { return failed }
        }
        guard !presented.isEmpty else {
            return .invalid(ChainFailure(code: X509_V_ERR_INVALID_CALL, depth: 0))
        }
        return verify(stack, store)
    }

    /// The same for certificates that OpenSSL has already parsed.
    static func verify(_ presented: OpaquePointer, _ store: OpaquePointer) -> ChainResult {
        guard let verification = X509_STORE_CTX_new() else { return failed }
        defer { X509_STORE_CTX_free(verification) }
        let leaf = ccertificates_at(presented, 0)
        guard X509_STORE_CTX_init(verification, store, leaf, presented) == 1,
            X509_STORE_CTX_set_default(verification, "ssl_server") == 1
        else { return failed }
        // After the above, which sets this as well.
        let parameters = X509_STORE_CTX_get0_param(verification)
        X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        return run(verification)
    }

    /// Runs a prepared verification.
    static func run(_ verification: OpaquePointer) -> ChainResult {
        let isValid = X509_verify_cert(verification) == 1
        ERR_clear_error()
        let code = X509_STORE_CTX_get_error(verification)
        guard isValid, code == X509_V_OK else {
            return .invalid(
                ChainFailure(
                    code: code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code,
                    depth: Int(X509_STORE_CTX_get_error_depth(verification))
                )
            )
        }
        return .valid(path: certificates(of: X509_STORE_CTX_get0_chain(verification)))
    }

    /// Returns all certificates of a stack, in DER.
    static func certificates(of stack: OpaquePointer?) -> [Data] {
        (0..<ccertificates_count(stack)).compactMap { index in
            ccertificates_at(stack, index).map(X509Certificate.der)
        }
    }

    static func makeStore(_ anchors: Anchors) -> OpaquePointer? {
        guard let store = X509_STORE_new() else { return nil }
        defer { ERR_clear_error() }
        switch anchors {
        case .certificates(let certificates):
            for der in certificates {
                guard let certificate = X509Certificate(der: der),
                    X509_STORE_add_cert(store, certificate.pointer) == 1
                else {
                    X509_STORE_free(store)
                    return nil
                }
            }
        case .places(let file, let directory):
            if let file, X509_STORE_load_file(store, file) != 1 {
                X509_STORE_free(store)
                return nil
            }
            if let directory { X509_STORE_load_path(store, directory) }
        }
        return store
    }

    /// Out of memory, or invalid certificates.
    private static let failed = ChainResult.invalid(
        ChainFailure(code: X509_V_ERR_UNSPECIFIED, depth: 0)
    )
}
