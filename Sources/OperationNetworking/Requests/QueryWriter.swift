internal import Foundation

/// Writes parameters as the text of a ``QueryString``, in one pass and into one buffer.
struct QueryWriter {
    private var octets: [UInt8] = []
    /// The name of what is being written, escaped.
    private var escapedName: [UInt8] = []
    private var hasWritten = false

    private init(capacity: Int) {
        octets.reserveCapacity(capacity)
    }

    /// The text of the pairs of a dictionary.
    static func text(
        of dictionary: ParameterDictionary,
        arrayStyle: QueryString.ArrayStyle,
        encodesLeaves: Bool = false
    ) throws -> String {
        let walk = try ParameterWalk(
            dictionary,
            arrayStyle: arrayStyle,
            encodesLeaves: encodesLeaves,
            to: QueryWriter(capacity: dictionary.names.count * 32)
        )
        return String(decoding: walk.writer.octets, as: UTF8.self)
    }

    static func escape(_ text: String) -> String {
        var octets: [UInt8] = []
        octets.reserveCapacity(text.utf8.count)
        octets.append(escaping: text)
        return String(decoding: octets, as: UTF8.self)
    }

    /// Without the value: a separator and the name.
    private mutating func beginPair() {
        if hasWritten { octets.append(UInt8(ascii: "&")) }
        hasWritten = true
        octets.append(contentsOf: escapedName)
    }
}

// MARK: - ParameterWriter

extension QueryWriter: ParameterWriter {
    static func whole(_ leaf: Any) -> Never? { nil }

    /// The length of the name.
    var name: Int { escapedName.count }

    var nameText: String {
        let escaped = String(decoding: escapedName, as: UTF8.self)
        return escaped.removingPercentEncoding ?? escaped
    }

    mutating func extendName(by text: String) {
        escapedName.append(escaping: text)
    }

    mutating func restoreName(_ name: Int) {
        escapedName.removeLast(escapedName.count - name)
    }

    mutating func write(whole: Never) {}

    mutating func write(text: String) {
        beginPair()
        octets.append(UInt8(ascii: "="))
        octets.append(escaping: text)
    }

    mutating func write(list: [String]) {
        beginPair()
        for (position, text) in list.enumerated() {
            octets.append(position == 0 ? UInt8(ascii: "=") : UInt8(ascii: ","))
            octets.append(escaping: text)
        }
    }

    mutating func writeNull() {
        beginPair()
    }
}

extension [UInt8] {
    /// Adds text with every octet as `%XX` that does not stay as it is in a query.
    fileprivate mutating func append(escaping text: String) {
        let span = text.utf8Span.span
        var plain = 0
        while plain < span.count, span[plain].staysInQuery { plain += 1 }
        if plain == span.count {
            append(contentsOf: text.utf8)
            return
        }
        append(addingCapacity: 3 * span.count) { output in
            for position in span.indices {
                let octet = span[position]
                if octet.staysInQuery {
                    output.append(octet)
                } else {
                    output.append(UInt8(ascii: "%"))
                    output.append((octet >> 4).hexadecimalDigit)
                    output.append((octet & 15).hexadecimalDigit)
                }
            }
        }
    }
}

extension UInt8 {
    /// The digit of a value below 16.
    fileprivate var hexadecimalDigit: UInt8 {
        self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "A") + self - 10
    }

    /// Whether AFNetworking leaves this octet of a query as it is.
    fileprivate var staysInQuery: Bool {
        // Letters, digits and -._~/? as two sets of bits: a list of ranges costs several times as much.
        let bits: UInt64 = self < 0x40 ? 0x83FF_E000_0000_0000 : 0x47FF_FFFE_87FF_FFFE
        return self < 0x80 && bits >> UInt64(self & 0x3F) & 1 == 1
    }
}
