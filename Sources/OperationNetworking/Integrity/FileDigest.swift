import Foundation

/// A message digest (hash), with its algorithm.
///
/// | Text                     | Source                                    |
/// |--------------------------|-------------------------------------------|
/// | `sha256:2cf24dba…`       | ``description``, many package managers    |
/// | `sha-256=2cf24dba…`      | aria2, Metalink                           |
/// | `2cf24dba…`              | `sha256sum`; the length names the algorithm |
///
/// Names of algorithms and hexadecimal digits may be in any case.
public struct FileDigest: Hashable, Sendable {
    /// The algorithm that computed it.
    public let algorithm: DigestAlgorithm
    /// The bytes of the digest: ``DigestAlgorithm/byteCount`` of them.
    public let bytes: [UInt8]

    /// Creates a digest from its bytes.
    ///
    /// - Throws: ``DigestError/wrongLength(_:expected:actual:)``.
    public init(_ algorithm: DigestAlgorithm, bytes: [UInt8]) throws(DigestError) {
        guard bytes.count == algorithm.byteCount else {
            throw .wrongLength(algorithm, expected: algorithm.byteCount, actual: bytes.count)
        }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Creates a digest from hexadecimal digits, in any case.
    ///
    /// - Throws: ``DigestError/notHexadecimal(_:)``, ``DigestError/wrongLength(_:expected:actual:)``.
    public init(_ algorithm: DigestAlgorithm, hex: some StringProtocol) throws(DigestError) {
        guard let bytes = [UInt8](hex: hex) else { throw .notHexadecimal(String(hex)) }
        try self.init(algorithm, bytes: bytes)
    }

    /// Creates a digest from base64, as in HTTP fields. The padding is optional.
    ///
    /// - Throws: ``DigestError/notBase64(_:)``, ``DigestError/wrongLength(_:expected:actual:)``.
    public init(_ algorithm: DigestAlgorithm, base64: some StringProtocol) throws(DigestError) {
        guard let bytes = [UInt8](base64: base64) else { throw .notBase64(String(base64)) }
        try self.init(algorithm, bytes: bytes)
    }

    /// Creates a digest from one of the texts in the table. Surrounding text is an error.
    ///
    /// - Throws: ``DigestError``.
    public init(text: some StringProtocol) throws(DigestError) {
        let separator = text.firstIndex { $0 == ":" || $0 == "=" }
        guard let separator else {
            guard let bytes = [UInt8](hex: text) else { throw .notHexadecimal(String(text)) }
            guard let algorithm = DigestAlgorithm(hexCount: bytes.count * 2) else {
                throw .unknownLength(bytes.count * 2)
            }
            try self.init(algorithm, bytes: bytes)
            return
        }
        let name = text[..<separator]
        guard let algorithm = DigestAlgorithm(name: name) else { throw .unknownAlgorithm(String(name)) }
        try self.init(algorithm, hex: text[text.index(after: separator)...])
    }

    /// The bytes as hexadecimal digits, in lower case.
    public var hex: String { bytes.hex }

    /// The bytes in base64, padded.
    public var base64: String { Data(bytes).base64EncodedString() }
}

// MARK: - LosslessStringConvertible

extension FileDigest: LosslessStringConvertible {
    /// The algorithm and the hexadecimal digits, such as `sha256:2cf24dba…`.
    public var description: String { "\(algorithm.rawValue):\(hex)" }

    /// Like ``init(text:)``, but returns `nil` instead of throwing.
    public init?(_ description: String) {
        do {
            try self.init(text: description)
        } catch {
            return nil
        }
    }
}

// MARK: - Codable

extension FileDigest: Codable {
    /// Decodes a digest from its ``description``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            try self.init(text: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Encodes its ``description``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
