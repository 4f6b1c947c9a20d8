internal import OperationNetworkingSystem

/// The header fields of a message, in the order in which they were received or set. Names are
/// case-insensitive.
///
/// | Member            | On `ETag: "a"`, `Via: x`, `via: y`       |
/// |-------------------|------------------------------------------|
/// | `fields["etag"]`  | `"a"`, the first value                   |
/// | `values(for:)`    | of `Via`: `["x", "y"]`                   |
/// | `combined(for:)`  | of `Via`: `x, y`                         |
///
/// Names are compared as ASCII ignoring case, values by octet ([RFC 9110
/// §5](https://www.rfc-editor.org/rfc/rfc9110#section-5)). A lookup scans the fields, which for the ten or
/// twenty of a typical head is faster than hashing, and neither lowercases nor copies.
///
/// The storage is two arrays. Most fields of most responses are never read, so a `String` is created only
/// when one is.
struct HeaderFields: Hashable, Sendable {
    /// One field line. Two are equal if their values are equal and their names are equal ignoring case.
    struct Field: Hashable, Codable, Sendable {
        /// The name as received or set, without the colon.
        let name: String
        /// The value, trimmed.
        var value: String

        static func == (one: Field, other: Field) -> Bool {
            one.value.utf8.elementsEqual(other.value.utf8)
                && one.name.isEqualIgnoringASCIICase(to: other.name)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(name.utf8.count)  // the same in any case
            hasher.combine(value)  // coarser than octets, so equal fields hash alike
        }
    }

    /// The position of one line in the octets. It begins where the previous line ends.
    private struct Line: Hashable, Sendable {
        var nameEnd: Int
        var end: Int
    }

    /// Names and values, concatenated, in UTF-8.
    private var octets: [UInt8] = []
    private var lines: [Line] = []
    /// A bit per name length: for most lookups there is no name of that length.
    private var nameLengths: UInt64 = 0

    init() {}

    /// Creates fields from a dictionary, sorted by name so that equal dictionaries give equal values.
    init(_ dictionary: [String: String]) {
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { append(name: name, value: value) }
    }

    /// Returns empty fields with capacity for a typical head.
    static func withRoom() -> HeaderFields { HeaderFields(roomFor: 16, octets: 480) }

    /// Creates empty fields with capacity for some lines and the octets of their names and values.
    init(roomFor lines: Int, octets: Int) {
        self.octets.reserveCapacity(octets)
        self.lines.reserveCapacity(lines)
    }

    static func == (one: HeaderFields, other: HeaderFields) -> Bool {
        guard one.count == other.count else { return false }
        return one.octets == other.octets && one.lines == other.lines || one.fields == other.fields
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(fields)
    }

    // MARK: - Reading

    /// All fields, in order, including repeated names.
    var fields: [Field] { lines.indices.map { Field(name: name($0), value: value($0)) } }

    var count: Int { lines.count }

    /// The number of octets of all names and values.
    var octetCount: Int { octets.count }

    var isEmpty: Bool { lines.isEmpty }

    /// The first value with that name.
    ///
    /// Setting replaces the first field with that name and removes the others; a new name is appended; `nil`
    /// removes all fields with that name.
    subscript(name: String) -> String? {
        get { index(of: name).map { value($0) } }
        set {
            guard let first = index(of: name) else {
                if let newValue { append(name: name, value: newValue) }
                return
            }
            let old = self
            removeAll()
            for index in old.lines.indices {
                if index == first, let newValue {
                    append(name: name, value: newValue)
                } else if !old.isLine(index, of: name.utf8Span.span) {
                    append(old, index)
                }
            }
        }
    }

    /// Whether there is a field with that name.
    func contains(_ name: String) -> Bool { index(of: name) != nil }

    /// All values with that name, in order.
    func values(for name: String) -> [String] {
        var values: [String] = []
        forEachValue(of: name) { values.append(String($0)) }
        return values
    }

    /// Calls `body` with the octets of each value with that name, in order.
    func forEachValue<Failure: Error>(
        of name: String,
        _ body: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var next = index(of: name)
        while let index = next {
            try body(octets.span.extracting(lines[index].nameEnd..<lines[index].end))
            next = self.index(of: name, from: index + 1)
        }
    }

    /// The values with that name as one list; `nil` if there are none ([RFC 9110
    /// §5.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.3)).
    ///
    /// Not for `Set-Cookie`, whose values contain commas.
    func combined(for name: String) -> String? {
        guard let first = index(of: name) else { return nil }
        guard index(of: name, from: first + 1) != nil else { return value(first) }
        return values(for: name).joined(separator: ", ")
    }

    /// The value with that name; `nil` if there is none, or if its lines have different values.
    func onlyValue(for name: String) -> String? {
        guard let first = index(of: name) else { return nil }
        let value = lines[first].nameEnd..<lines[first].end
        var next = index(of: name, from: first + 1)
        while let index = next {
            guard octets[lines[index].nameEnd..<lines[index].end].elementsEqual(octets[value]) else {
                return nil
            }
            next = self.index(of: name, from: index + 1)
        }
        return self.value(first)
    }

    private func index(of name: String, from first: Int = 0) -> Int? {
        guard nameLengths & Self.bit(forLength: name.utf8.count) != 0 else { return nil }
        let (name, octets, lines) = (name.utf8Span.span, octets.span, lines.span)
        var start = first == 0 ? 0 : lines[first - 1].end
        for index in first..<lines.count {
            let line = lines[index]
            if Self.isName(octets, start..<line.nameEnd, name) { return index }
            start = line.end
        }
        return nil
    }

    private func isLine(_ index: Int, of name: Span<UInt8>) -> Bool {
        Self.isName(octets.span, start(index)..<lines[index].nameEnd, name)
    }

    private static func isName(_ octets: Span<UInt8>, _ bounds: Range<Int>, _ name: Span<UInt8>) -> Bool {
        guard bounds.count == name.count else { return false }  // most names differ in length
        for offset in name.indices {
            let (one, other) = (octets[bounds.lowerBound + offset], name[offset])
            if one != other, one.lowercasedASCII != other.lowercasedASCII { return false }
        }
        return true
    }

    private func start(_ index: Int) -> Int { index == 0 ? 0 : lines[index - 1].end }

    private func name(_ index: Int) -> String {
        String(decoding: octets[start(index)..<lines[index].nameEnd], as: UTF8.self)
    }

    private func value(_ index: Int) -> String {
        String(decoding: octets[lines[index].nameEnd..<lines[index].end], as: UTF8.self)
    }

    /// One value per name, for `HTTPURLResponse`: repeated names are combined under their first spelling.
    /// Linear in the number of fields, which the peer determines.
    var dictionary: [String: String] {
        var spellings = Spellings(isLarge: fields.count > 32)
        var dictionary: [String: String] = [:]
        dictionary.reserveCapacity(fields.count)
        for field in fields {
            if let spelling = spellings.first(of: field.name) {
                dictionary[spelling]?.append(", " + field.value)
            } else {
                dictionary[field.name] = field.value
            }
        }
        return dictionary
    }

    // MARK: - Building

    /// Appends a field and keeps those with the same name.
    mutating func append(name: String, value: String) {
        octets.append(contentsOf: name.utf8)
        let nameEnd = octets.count
        octets.append(contentsOf: value.utf8)
        endLine(nameEnd: nameEnd)
    }

    /// Appends a field; name and value are UTF-8.
    mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        octets.append(name)
        let nameEnd = octets.count
        octets.append(value)
        endLine(nameEnd: nameEnd)
    }

    /// Appends a received field. A value that is not UTF-8 is read as ISO 8859-1. An entity tag with such
    /// octets is invalid (``EntityTag``), because its text could equal another tag's UTF-8.
    /// - Returns: whether the value was UTF-8.
    mutating func append(name: Span<UInt8>, headerText value: Span<UInt8>) -> Bool {
        octets.append(headerText: name)
        let nameEnd = octets.count
        let isUTF8 = append(value, isEntityTag: Self.isEntityTag(name))
        endLine(nameEnd: nameEnd)
        return isUTF8
    }

    /// - Returns: whether the value is UTF-8.
    private mutating func append(_ value: Span<UInt8>, isEntityTag: Bool) -> Bool {
        isEntityTag ? octets.append(opaqueText: value) : octets.append(headerText: value)
    }

    private static func isEntityTag(_ name: Span<UInt8>) -> Bool {
        let tag = "etag".utf8Span.span
        guard name.count == tag.count else { return false }
        for index in tag.indices where name[index].lowercasedASCII != tag[index] { return false }
        return true
    }

    private mutating func append(_ other: HeaderFields, _ index: Int) {
        octets.append(contentsOf: other.octets[other.start(index)..<other.lines[index].nameEnd])
        let nameEnd = octets.count
        octets.append(contentsOf: other.octets[other.lines[index].nameEnd..<other.lines[index].end])
        endLine(nameEnd: nameEnd)
    }

    private mutating func endLine(nameEnd: Int) {
        lines.append(Line(nameEnd: nameEnd, end: octets.count))
        nameLengths |= Self.bit(forLength: nameEnd - start(lines.count - 1))
    }

    private static func bit(forLength length: Int) -> UInt64 { 1 << UInt64(min(length, 63)) }

    /// Appends one received line of a head, with or without its line end.
    ///
    /// A line that starts with white space continues the previous value, as [RFC 9112
    /// §5.2](https://www.rfc-editor.org/rfc/rfc9112#section-5.2) requires of user agents. Octets that are not
    /// UTF-8 become U+FFFD: such a value can be shown but not sent back unchanged.
    ///
    /// - Returns: whether it was a field. A status line and the empty line are not, and change nothing.
    @discardableResult
    mutating func append(line: some BidirectionalCollection<UInt8>) -> Bool {
        let text = line.trimmingHTTPWhitespace()
        guard let first = line.first, !text.isEmpty else { return false }
        if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
            guard !isEmpty else { return false }
            continueLast(headerText: String(decoding: text, as: UTF8.self).utf8Span.span)
            return true
        }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let name = String(decoding: text[..<colon], as: UTF8.self)
        guard name.isHTTPToken else { return false }
        let value = text[text.index(after: colon)...].trimmingHTTPWhitespace()
        append(name: name, value: String(decoding: value, as: UTF8.self))
        return true
    }

    /// Appends a space and the received text to the value of the last field.
    mutating func continueLast(headerText value: Span<UInt8>) {
        guard let last = lines.indices.last else { return }
        let isTag = Self.isEntityTag(octets.span.extracting(start(last)..<lines[last].nameEnd))
        octets.append(UInt8(ascii: " "))
        _ = append(value, isEntityTag: isTag)
        lines[last].end = octets.count
    }

    mutating func removeAll() {
        octets = []
        lines = []
        nameLengths = 0
    }

    /// Removes the fields for which `shouldRemove` returns true.
    mutating func removeAll(where shouldRemove: (Field) -> Bool) {
        let old = self
        removeAll()
        for (index, field) in old.fields.enumerated() where !shouldRemove(field) { append(old, index) }
    }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
    /// Keeps the order of the literal; names may be repeated.
    init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name: name, value: value) }
    }
}

/// The first spelling of each name: a list for typical heads, and a hash table for large ones.
private struct Spellings {
    let isLarge: Bool
    private var list: [String] = []
    private var table: [CaseInsensitiveName: String] = [:]

    init(isLarge: Bool) {
        self.isLarge = isLarge
        if !isLarge { list.reserveCapacity(32) }
    }

    /// Returns the first spelling of the name; `nil` if `name` is the first, which is recorded.
    mutating func first(of name: String) -> String? {
        if isLarge {
            let key = CaseInsensitiveName(text: name)
            if let spelling = table[key] { return spelling }
            table[key] = name
        } else {
            for spelling in list where spelling.isEqualIgnoringASCIICase(to: name) { return spelling }
            list.append(name)
        }
        return nil
    }
}

/// A field name as the key of a dictionary.
private struct CaseInsensitiveName: Hashable {
    let text: String

    static func == (one: CaseInsensitiveName, other: CaseInsensitiveName) -> Bool {
        one.text.isEqualIgnoringASCIICase(to: other.text)
    }

    func hash(into hasher: inout Hasher) {
        for octet in text.utf8 { hasher.combine(octet.lowercasedASCII) }
    }
}

// MARK: - Codable

// Not synthesized: names and values of an archive are checked like those of any request.
extension HeaderFields: Codable {
    init(from decoder: any Decoder) throws {
        self.init()
        for field in try [Field](from: decoder) {
            try RequestSerializationError.check(name: field.name, value: field.value)
            self[field.name] = field.value
        }
    }

    func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}
