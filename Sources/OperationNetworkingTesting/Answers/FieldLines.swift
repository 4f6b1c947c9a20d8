/// Header or trailer fields as they stand on the wire: in order, names spelled as given, duplicates kept.
///
/// ```swift
/// let fields: FieldLines = ["Content-Type": "text/plain", "Set-Cookie": "a=1", "Set-Cookie": "b=2"]
/// ```
public struct FieldLines: Hashable, Sendable {
    /// One field line.
    public struct Line: Hashable, Sendable {
        /// The name as spelled.
        public var name: String
        /// The value, without the white space around it.
        public var value: String
    }

    /// The lines in order.
    public private(set) var lines: [Line]

    /// Makes fields from pairs of name and value.
    public init(_ pairs: [(String, String)] = []) {
        lines = pairs.map { Line(name: $0, value: $1) }
    }

    /// The values of every field called `name`, in any spelling, joined by a comma and a space as
    /// [RFC 9110 §5.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.3) does; `nil` without such a field.
    public subscript(_ name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The values of every field called `name`, in any spelling, in order.
    public func values(of name: String) -> [String] {
        let (count, lowercased) = (name.utf8.count, name.lowercased())
        // Most lines differ in length alone.
        return lines.filter { $0.name.utf8.count == count && $0.name.lowercased() == lowercased }.map(\.value)
    }

    /// Adds a line at the end.
    public mutating func append(_ name: String, _ value: String) {
        lines.append(Line(name: name, value: value))
    }

    /// Whether the comma-separated list in `name` contains `token`, in any spelling.
    func list(_ name: String, contains token: String) -> Bool {
        guard let value = self[name] else { return false }
        return value.lowercased().split(separator: ",").contains { $0.trimmed == token }
    }
}

extension FieldLines: ExpressibleByDictionaryLiteral {
    /// Makes fields from a literal; names may occur more than once.
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
    /// Without the optional white space of RFC 9110 §5.6.3 at both ends.
    var trimmed: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
