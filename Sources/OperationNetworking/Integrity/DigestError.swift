public import Foundation

/// Why a ``FileDigest`` could not be created.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DigestError: Error, Hashable, Sendable {
    /// No supported algorithm has this name.
    case unknownAlgorithm(String)
    /// The text is not hexadecimal.
    case notHexadecimal(String)
    /// The text is not base64.
    case notBase64(String)
    /// The algorithm's digests have `expected` bytes.
    case wrongLength(DigestAlgorithm, expected: Int, actual: Int)
    /// The text names no algorithm, and no supported one has digests of this many hexadecimal digits.
    case unknownLength(Int)
    /// OpenSSL refuses to compute it; FIPS mode, for example, forbids MD5. The associated value is OpenSSL's
    /// message.
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
            "A \(algorithm.rawValue) digest has \(expected) bytes, but this one has \(actual)."
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
