internal import COperationNetworking
internal import Glibc

/// The octets of an IPv4 or IPv6 address; see inet_pton(3).
package struct InternetAddress: Hashable, Sendable {
    /// 4 or 16.
    package let octets: [UInt8]

    /// Creates an address; `nil` unless there are 4 or 16 octets.
    package init?(octets: [UInt8]) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = octets
    }

    /// Parses `10.1.2.3` or `fe80::1`; `nil` for everything else.
    package init?(_ text: String) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            octets = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            octets = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    /// Parses the host of a URL like libcurl: also `127.1` and `0x7f000001` (inet_aton(3)), and IPv6 with a
    /// zone.
    package init?(host: String) {
        if let address = InternetAddress(String(host.prefix { $0 != "%" })) {
            self = address
            return
        }
        var four = in_addr()
        guard host.utf8.first.map({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) == true,
            inet_aton(host, &four) == 1
        else { return nil }
        octets = withUnsafeBytes(of: four) { Array($0) }
    }

    package var bitCount: Int { octets.count * 8 }

    /// Whether both have the same family and the same leading bits.
    package func shares(_ bits: Int, with other: InternetAddress) -> Bool {
        guard octets.count == other.octets.count, bits <= bitCount else { return false }
        let whole = bits / 8
        guard octets[..<whole] == other.octets[..<whole] else { return false }
        guard bits % 8 > 0 else { return true }
        return (octets[whole] ^ other.octets[whole]) >> (8 - bits % 8) == 0
    }
}
