import COperationNetworking

/// An incremental message digest by OpenSSL. Used by one thread at a time.
package final class MessageDigest {
    /// A digest algorithm of OpenSSL.
    package enum Algorithm: Hashable, Sendable, CaseIterable {
        case md5
        case sha1
        case sha256
        case sha512
        /// SHA-512/256 of FIPS 180-4, which is not a truncated SHA-512.
        case sha512By256

        fileprivate var description: OpaquePointer? {
            switch self {
            case .md5: EVP_md5()
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            case .sha512: EVP_sha512()
            case .sha512By256: EVP_sha512_256()
            }
        }
    }

    /// OpenSSL refused: its configuration may forbid an algorithm, as FIPS mode forbids MD5.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// OpenSSL's message.
        package let reason: String

        package var description: String { "OpenSSL cannot compute this digest: \(reason)" }

        /// Takes the first error from OpenSSL's queue of this thread, which is the cause, and clears the
        /// queue.
        init() {
            var text = [CChar](repeating: 0, count: 256)
            let code = ERR_get_error()
            ERR_clear_error()
            ERR_error_string_n(code, &text, text.count)
            reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// Algorithms of OpenSSL, which looks one up in its providers for each digest otherwise: half of the time of a
    /// short one. A configuration of OpenSSL that is changed later in the process has no effect on them.
    private struct Fetched: @unchecked Sendable {
        // @unchecked: OpenSSL's algorithms are immutable, and these are never released.
        private let all: [Algorithm: OpaquePointer]

        static let algorithms = Fetched()

        private init() {
            all = Dictionary(
                uniqueKeysWithValues: Algorithm.allCases.compactMap { algorithm in
                    EVP_MD_fetch(nil, EVP_MD_get0_name(algorithm.description), nil).map { (algorithm, $0) }
                }
            )
        }

        /// One that was not found is looked up again, for the error.
        subscript(_ algorithm: Algorithm) -> OpaquePointer? { all[algorithm] ?? algorithm.description }
    }

    private let context: OpaquePointer
    /// The first error of an update, which ``finish()`` throws.
    private var failure: Failure?

    /// - Throws: ``Failure``.
    package init(_ algorithm: Algorithm) throws(Failure) {
        let function = Fetched.algorithms[algorithm]
        // Earlier errors are unrelated.
        ERR_clear_error()
        guard let context = EVP_MD_CTX_new() else { throw Failure() }
        guard EVP_DigestInit_ex(context, function, nil) == 1 else {
            let failure = Failure()
            EVP_MD_CTX_free(context)
            throw failure
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds bytes, without a copy.
    package func update(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { bytes in
            guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) != 1, failure == nil else {
                return
            }
            failure = Failure()
        }
    }

    /// Returns the digest of all bytes. Called once.
    package func finish() throws(Failure) -> [UInt8] {
        if let failure { throw failure }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_DigestFinal_ex(context, &digest, &count) == 1 else { throw Failure() }
        digest.removeLast(digest.count - Int(count))
        return digest
    }
}
