public import Foundation

/// Why there is no ``FileDigest``.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DigestError: Error, Hashable, Sendable {
    /// No algorithm of that name is known here.
    case unknownAlgorithm(String)
    /// The text is not hexadecimal digits.
    case notHexadecimal(String)
    /// The text is not base64.
    case notBase64(String)
    /// The algorithm's digests have `expected` bytes.
    case wrongLength(DigestAlgorithm, expected: Int, actual: Int)
    /// No algorithm is named, and none known here has digests of that many hexadecimal digits.
    case unknownLength(Int)
    /// OpenSSL refuses to compute it: FIPS mode, say, forbids MD5. The associated value is OpenSSL's
    /// sentence.
    case refused(DigestAlgorithm, String)
}

// MARK: - CustomStringConvertible

extension DigestError: CustomStringConvertible {
    /// One sentence, with the numbers.
    public var description: String {
        switch self {
        case .unknownAlgorithm(let name):
            "The digest algorithm \(name.excerpt().debugDescription) is unknown."
        case .notHexadecimal(let text):
            "Expected a digest in hexadecimal, not \(text.excerpt().debugDescription)."
        case .notBase64(let text):
            "Expected a digest in base64, not \(text.excerpt().debugDescription)."
        case .wrongLength(let algorithm, let expected, let actual):
            "A digest with \(algorithm.rawValue) has \(expected) bytes, but this one has \(actual)."
        case .unknownLength(let count):
            "No known algorithm has digests of \(count) hexadecimal digits."
        case .refused(let algorithm, let reason):
            "OpenSSL cannot compute \(algorithm.rawValue): \(reason)."
        }
    }
}

// MARK: - LocalizedError

extension DigestError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension DigestError: ClassifiedError {
    package var traits: FailureTraits {
        .mistake
    }
}
