/// A version of TLS.
///
/// OpenSSL may refuse what is older than ``v1_2`` in any case: see its security level and `MinProtocol` in
/// openssl.cnf.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum TLSVersion: Int, Hashable, Codable, Sendable, Comparable, CaseIterable {
    /// RFC 2246, which RFC 8996 forbids.
    case v1_0 = 0
    /// RFC 4346, which RFC 8996 forbids.
    case v1_1 = 1
    /// RFC 5246.
    case v1_2 = 2
    /// RFC 8446.
    case v1_3 = 3

    /// The versions that are spoken unless others are asked for: 1.2 and 1.3.
    static let defaultRange = v1_2...v1_3

    /// As in `1.2`.
    var text: String { "1.\(rawValue)" }

    /// Whether the first is older.
    public static func < (first: TLSVersion, second: TLSVersion) -> Bool {
        first.rawValue < second.rawValue
    }
}
