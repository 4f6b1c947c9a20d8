/// An entity tag as received, with its quotes, so that it can be sent back octet for octet
/// ([RFC 9110 §8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3)).
struct EntityTag: Hashable, Sendable {
    /// The field value, such as `"v1"` or `W/"v1"`.
    let rawValue: String

    /// Whether the tag only promises equivalent, not identical, bytes.
    var isWeak: Bool { rawValue.utf8.first == UInt8(ascii: "W") }

    /// The tag without the prefix of weak tags.
    private var opaque: Substring { isWeak ? rawValue.dropFirst(2) : rawValue[...] }

    /// Whether an earlier and a later value are equal by weak comparison
    /// ([RFC 9110 §8.8.3.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2)), or both are absent.
    static func areWeaklyEqual(_ old: String?, _ new: [String]) -> Bool {
        guard let old else { return new.isEmpty }
        guard let old = EntityTag(fieldValue: old), !new.isEmpty else { return false }
        return new.allSatisfy { text in
            guard let tag = EntityTag(fieldValue: text) else { return false }
            return tag.opaque.utf8.elementsEqual(old.opaque.utf8)
        }
    }

    /// Returns `nil` if the value is not an entity tag: it has no quotes, or contains characters that a tag cannot
    /// have.
    ///
    /// A tag that was not valid UTF-8 is also refused: ``HeaderFields/append(name:headerText:)`` has replaced its
    /// octets by U+FFFD, so it can neither be sent back nor be compared.
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

    /// Compares octet for octet: canonically equivalent strings are different tags.
    static func == (one: EntityTag, other: EntityTag) -> Bool {
        one.rawValue.utf8.elementsEqual(other.rawValue.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for octet in rawValue.utf8 { hasher.combine(octet) }
    }
}
