/// Header or trailer fields as on the wire: in order, with their spelling and duplicates.
///
/// ```swift
/// let fields: FieldLines = ["Content-Type": "text/plain", "Set-Cookie": "a=1", "Set-Cookie": "b=2"]
/// ```
public struct FieldLines: Hashable, Sendable {
    /// One field line.
    public struct Line: Hashable, Sendable {
        /// The name, as spelled.
        public var name: String
        /// The value, trimmed.
        public var value: String
    }

    /// The lines in order.
    public private(set) var lines: [Line]

    /// Creates fields from pairs of name and value.
    public init(_ pairs: [(String, String)] = []) {
        lines = pairs.map { Line(name: $0, value: $1) }
    }

    /// The values of all fields with this case-insensitive name, joined by a comma and a space ([RFC 9110
    /// §5.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.3)); `nil` if there are none.
    public subscript(_ name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Returns the values of all fields with this case-insensitive name, in order.
    public func values(of name: String) -> [String] {
        let (count, lowercased) = (name.utf8.count, name.lowercased())
        // Most names already differ in length.
        return lines.filter { $0.name.utf8.count == count && $0.name.lowercased() == lowercased }.map(\.value)
    }

    /// Appends a line.
    public mutating func append(_ name: String, _ value: String) {
        lines.append(Line(name: name, value: value))
    }

    /// Whether the comma-separated list in the field contains `token`, ignoring case.
    func list(_ name: String, contains token: String) -> Bool {
        guard let value = self[name] else { return false }
        return value.lowercased().split(separator: ",").contains { $0.trimmed == token }
    }
}

extension FieldLines: ExpressibleByDictionaryLiteral {
    /// Creates fields from a literal; names may be repeated.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements)
    }
}

extension FieldLines: Sequence {
    /// Iterates over the lines in order.
    public func makeIterator() -> IndexingIterator<[Line]> {
        lines.makeIterator()
    }
}

extension FieldLines: CustomStringConvertible {
    /// The lines as on the wire.
    public var description: String {
        lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }
}

extension Substring {
    /// The text without leading and trailing optional white space (RFC 9110 §5.6.3).
    var trimmed: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
