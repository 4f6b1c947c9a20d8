internal import Foundation

/// Writes a tree of parameters as the text of a ``QueryString``, in one pass and into one buffer.
struct QueryWriter {
    private let arrayStyle: QueryString.ArrayStyle
    private var octets: [UInt8] = []
    /// The name of what is being written, escaped.
    private var name: [UInt8] = []
    private var depth = 0

    private init(arrayStyle: QueryString.ArrayStyle) {
        self.arrayStyle = arrayStyle
    }

    /// The text of the pairs of a dictionary.
    static func text(
        of dictionary: ParameterDictionary,
        arrayStyle: QueryString.ArrayStyle
    ) throws -> String {
        var writer = QueryWriter(arrayStyle: arrayStyle)
        writer.octets.reserveCapacity(dictionary.names.count * 32)
        try writer.write(dictionary: dictionary)
        return String(decoding: writer.octets, as: UTF8.self)
    }

    static func escape(_ text: String) -> String {
        var octets: [UInt8] = []
        octets.reserveCapacity(text.utf8.count)
        octets.append(escaping: text)
        return String(decoding: octets, as: UTF8.self)
    }

    // MARK: - Trees

    private mutating func write(_ value: Any) throws {
        if ParameterScalar.isKnown(type(of: value)) {
            return write(text: ParameterScalar.text(of: value))
        }
        switch ParameterShape(value) {
        case .leaf(let leaf):
            try write(leaf: leaf)
        case .null:
            beginPair()
        case .dictionary(let dictionary):
            try write(dictionary: dictionary)
        case .array(let array):
            try write(array: array)
        case .set(let set):
            try deeper { writer in
                let texts = set.map { ParameterScalar.text(of: $0) }
                for position in NameOrder.sortedPositions(of: texts) { try writer.write(set[position]) }
            }
        }
    }

    private mutating func write(dictionary: ParameterDictionary) throws {
        let isOutermost = depth == 0
        try deeper { writer in
            for position in NameOrder.sortedPositions(of: dictionary.names) {
                let end = writer.name.count
                if isOutermost {
                    writer.name.append(escaping: dictionary.names[position])
                } else {
                    writer.name.append(escaping: "[")
                    writer.name.append(escaping: dictionary.names[position])
                    writer.name.append(escaping: "]")
                }
                try writer.write(dictionary.values[position])
                writer.name.removeLast(writer.name.count - end)
            }
        }
    }

    private mutating func write(array: [Any]) throws {
        if arrayStyle == .comma, try writeList(array) { return }
        try deeper { writer in
            let end = writer.name.count
            for (position, element) in array.enumerated() {
                switch writer.arrayStyle {
                case .brackets, .comma: writer.name.append(escaping: "[]")
                case .indices: writer.name.append(escaping: "[\(position)]")
                case .repeated: break
                }
                try writer.write(element)
                writer.name.removeLast(writer.name.count - end)
            }
        }
    }

    /// Writes the elements as one pair, unless one of them has elements of its own.
    private mutating func writeList(_ array: [Any]) throws -> Bool {
        var texts: [String] = []
        texts.reserveCapacity(array.count)
        for element in array {
            switch ParameterShape(element) {
            case .leaf(let leaf):
                guard let text = ParameterScalar.leafText(of: leaf) else { return false }
                texts.append(text)
            case .null: texts.append("")
            case .dictionary, .array, .set: return false
            }
        }
        for (position, text) in texts.enumerated() {
            if position == 0 {
                beginPair()
                octets.append(UInt8(ascii: "="))
            } else {
                octets.append(UInt8(ascii: ","))
            }
            octets.append(escaping: text)
        }
        return true
    }

    private mutating func write(leaf: Any) throws {
        if let text = ParameterScalar.leafText(of: leaf) {
            write(text: text)
        } else if let encodable = leaf as? any Encodable {
            try deeper { writer in try writer.write(ParameterEncoder.tree(of: encodable)) }
        }
    }

    private mutating func write(text: String) {
        beginPair()
        octets.append(UInt8(ascii: "="))
        octets.append(escaping: text)
    }

    /// Without the value: a separator and the name.
    private mutating func beginPair() {
        if !octets.isEmpty || hasWritten { octets.append(UInt8(ascii: "&")) }
        hasWritten = true
        octets.append(contentsOf: name)
    }

    private var hasWritten = false

    private mutating func deeper(_ body: (inout QueryWriter) throws -> Void) throws {
        guard depth < ParameterShape.depthLimit else {
            throw RequestSerializationError.parametersTooDeep(limit: ParameterShape.depthLimit)
        }
        depth += 1
        try body(&self)
        depth -= 1
    }
}

extension ParameterScalar {
    /// The text of a value that has no parts, `nil` for one that says what its parts are by being
    /// `Encodable`.
    ///
    /// A type with a description of its own is written with it, as AFNetworking does.
    static func leafText(of leaf: Any) -> String? {
        guard isKnown(type(of: leaf)) || leaf is any CustomStringConvertible || !(leaf is any Encodable)
        else {
            return nil
        }
        return text(of: leaf)
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
        for position in span.indices {
            let octet = span[position]
            if octet.staysInQuery {
                append(octet)
            } else {
                append(UInt8(ascii: "%"))
                append(hexadecimalDigit(octet >> 4))
                append(hexadecimalDigit(octet & 15))
            }
        }
    }

    private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension UInt8 {
    /// Whether AFNetworking leaves this octet of a query as it is.
    fileprivate var staysInQuery: Bool {
        // Letters, digits and -._~/? as two sets of bits: a list of ranges costs several times as much.
        let bits: UInt64 = self < 0x40 ? 0x83FF_E000_0000_0000 : 0x47FF_FFFE_87FF_FFFE
        return self < 0x80 && bits >> UInt64(self & 0x3F) & 1 == 1
    }
}
