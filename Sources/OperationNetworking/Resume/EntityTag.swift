/// An entity tag as it was received, quotes included, so that it can be sent back octet for octet
/// ([RFC 9110 §8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3)).
struct EntityTag: Hashable, Sendable {
    /// Such as `"v1"` or `W/"v1"`.
    let rawValue: String

    /// Whether it promises only that both are good enough for each other, not that they are the same bytes.
    var isWeak: Bool { rawValue.utf8.first == UInt8(ascii: "W") }

    /// The tag without its weakness.
    private var opaque: Substring { isWeak ? rawValue.dropFirst(2) : rawValue[...] }

    /// Whether what was received earlier, and what is received now, are good enough for each other
    /// ([RFC 9110 §8.8.3.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2)), or both are nothing.
    static func areWeaklyEqual(_ old: String?, _ new: [String]) -> Bool {
        guard let old else { return new.isEmpty }
        guard let old = EntityTag(fieldValue: old), !new.isEmpty else { return false }
        return new.allSatisfy { text in
            guard let tag = EntityTag(fieldValue: text) else { return false }
            return tag.opaque.utf8.elementsEqual(old.opaque.utf8)
        }
    }

    /// `nil` for what is not an entity tag: no quotes, or characters inside them that a tag cannot have.
    ///
    /// A tag whose octets were not UTF-8 is refused as well. ``HeaderFields/append(name:headerText:)`` has
    /// put U+FFFD in their place: it can neither be sent back as it came nor told from another one.
    init?(fieldValue: String) {
        let octets = Substring(fieldValue.utf8.trimmingHTTPWhitespace())
        let opaque = octets.hasPrefix("W/") ? octets.dropFirst(2) : octets
        guard opaque.utf8.count >= 2, opaque.utf8.first == UInt8(ascii: "\""),
            opaque.utf8.last == UInt8(ascii: "\""), !opaque.unicodeScalars.contains("\u{FFFD}")
        else { return nil }
        let isTag = opaque.utf8.dropFirst().dropLast().allSatisfy { octet in
            octet == 0x21 || (octet >= 0x23 && octet != 0x7F)
        }
        guard isTag else { return nil }
        rawValue = String(octets)
    }

    /// Octet for octet: strings that Unicode takes for the same are different tags.
    static func == (one: EntityTag, other: EntityTag) -> Bool {
        one.rawValue.utf8.elementsEqual(other.rawValue.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for octet in rawValue.utf8 { hasher.combine(octet) }
    }
}
