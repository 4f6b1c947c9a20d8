/// A version of TLS.
///
/// OpenSSL may refuse versions older than ``v1_2`` regardless of this setting: see its security level, and
/// `MinProtocol` in openssl.cnf.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum TLSVersion: Int, Hashable, Codable, Sendable, Comparable, CaseIterable {
    /// TLS 1.0 (RFC 2246), deprecated by RFC 8996.
    case v1_0 = 0
    /// TLS 1.1 (RFC 4346), deprecated by RFC 8996.
    case v1_1 = 1
    /// TLS 1.2 (RFC 5246).
    case v1_2 = 2
    /// TLS 1.3 (RFC 8446).
    case v1_3 = 3

    /// The default versions: 1.2 and 1.3.
    static let defaultRange = v1_2...v1_3

    /// The number, as in `1.2`.
    var text: String { "1.\(rawValue)" }

    /// Whether the first is older.
    public static func < (first: TLSVersion, second: TLSVersion) -> Bool {
        first.rawValue < second.rawValue
    }
}
