/// The order in which AFNetworking sorts names: by UTF-16 code units.
///
/// UTF-8 sorts the same except for U+E000 to U+FFFF, which UTF-16 sorts after surrogates. ``weight(_:)``
/// reorders the octets that begin such characters, so that nothing has to be transcoded.
enum NameOrder {
    /// Returns the positions of the names, sorted.
    ///
    /// Names in one list often share a prefix, so the eight octets after the common prefix decide nearly
    /// every comparison.
    static func sortedPositions(of names: [String]) -> [Int] {
        guard names.count > 8 else {
            return names.count < 2
                ? Array(names.indices) : names.indices.sorted { precedes(names[$0], names[$1], from: 0) }
        }
        let shared = sharedLength(of: names)
        var entries = names.enumerated().map { Entry(weight: weight(of: $1, from: shared), position: $0) }
        entries.sort { one, other in
            if one.weight != other.weight { return one.weight < other.weight }
            return precedes(names[one.position], names[other.position], from: shared)
        }
        return entries.map(\.position)
    }

    private struct Entry {
        /// Eight octets of the name, the first one most significant.
        let weight: UInt64
        let position: Int
    }

    /// The length of the longest common prefix, in octets.
    private static func sharedLength(of names: [String]) -> Int {
        guard let first = names.first else { return 0 }
        let octets = first.utf8Span.span
        var shared = octets.count
        for name in names.dropFirst() {
            let others = name.utf8Span.span
            shared = min(shared, others.count)
            var length = 0
            while length < shared, octets[length] == others[length] { length += 1 }
            shared = length
        }
        return shared
    }

    private static func weight(of name: String, from start: Int) -> UInt64 {
        let octets = name.utf8Span.span
        var result: UInt64 = 0
        for offset in start..<(start + 8) {
            result = result << 8 | UInt64(offset < octets.count ? weight(octets[offset]) : 0)
        }
        return result
    }

    private static func precedes(_ one: String, _ other: String, from start: Int) -> Bool {
        let octets = one.utf8Span.span
        let others = other.utf8Span.span
        for offset in start..<max(start, min(octets.count, others.count))
        where octets[offset] != others[offset] {
            return weight(octets[offset]) < weight(others[offset])
        }
        return octets.count < others.count
    }

    /// 0xF0 and above begin a surrogate pair; 0xEE and 0xEF begin characters that sort after these.
    private static func weight(_ octet: UInt8) -> UInt8 {
        octet < 0xEE ? octet : octet < 0xF0 ? octet + 0x10 : octet - 2
    }
}
