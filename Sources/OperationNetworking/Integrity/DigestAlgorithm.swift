/// A way to compute a ``FileDigest``.
///
/// | Case     | Bytes | Also known as           | In fields of HTTP |
/// |----------|-------|-------------------------|-------------------|
/// | `md5`    | 16    | `MD5`                   | `md5`             |
/// | `sha1`   | 20    | `SHA1`, `sha-1`         | `sha`             |
/// | `sha256` | 32    | `SHA256`, `sha-256`     | `sha-256`         |
/// | `sha512` | 64    | `SHA512`, `sha-512`     | `sha-512`         |
///
/// MD5 and SHA-1 detect accidental damage. They do not protect against an attacker, who can create two files
/// with the same digest.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DigestAlgorithm: String, Hashable, Sendable, Codable, CaseIterable {
    /// MD5 ([RFC 1321](https://www.rfc-editor.org/rfc/rfc1321)).
    case md5
    /// SHA-1 ([RFC 3174](https://www.rfc-editor.org/rfc/rfc3174)).
    case sha1
    /// SHA-256 ([RFC 6234](https://www.rfc-editor.org/rfc/rfc6234)).
    case sha256
    /// SHA-512 ([RFC 6234](https://www.rfc-editor.org/rfc/rfc6234)).
    case sha512

    /// Creates the algorithm with this name, with or without a dash, in any case; `nil` if it is not supported.
    public init?(name: some StringProtocol) {
        let name = String(name)
        let known = Self.allCases.first { algorithm in
            name.isEqualIgnoringASCIICase(to: algorithm.rawValue)
                || name.isEqualIgnoringASCIICase(to: algorithm.dashedName)
        }
        guard let known else { return nil }
        self = known
    }

    /// Creates the algorithm whose digests have this many hexadecimal digits; `nil` if none is supported.
    public init?(hexCount: Int) {
        guard let known = Self.allCases.first(where: { $0.byteCount * 2 == hexCount }) else { return nil }
        self = known
    }

    /// The length of a digest in bytes.
    public var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }

    // MARK: - In fields

    /// An algorithm by its key in the registry of
    /// [RFC 9530 §7.2](https://www.rfc-editor.org/rfc/rfc9530#section-7.2), whose keys are exact.
    init?(fieldKey: some StringProtocol) {
        guard let known = Self.allCases.first(where: { $0.fieldKey == fieldKey }) else { return nil }
        self = known
    }

    /// The algorithm's key in `Repr-Digest`, and, in any case of letters, in `Digest`
    /// ([RFC 3230 §4.1.1](https://www.rfc-editor.org/rfc/rfc3230#section-4.1.1)).
    var fieldKey: String {
        self == .sha1 ? "sha" : dashedName
    }

    private var dashedName: String {
        switch self {
        case .md5: "md5"
        case .sha1: "sha-1"
        case .sha256: "sha-256"
        case .sha512: "sha-512"
        }
    }
}
