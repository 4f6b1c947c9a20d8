internal import OperationNetworkingSystem

/// The fields of a message's head, in the order they came or were set, found by name whatever its case.
///
/// | Member            | On `ETag: "a"`, `Via: x`, `via: y`       |
/// |-------------------|------------------------------------------|
/// | `fields["etag"]`  | `"a"`, the first value                   |
/// | `values(for:)`    | of `Via`: `["x", "y"]`                   |
/// | `combined(for:)`  | of `Via`: `x, y`                         |
///
/// Names compare as ASCII without regard to case, values octet by octet. A name costs a scan of the fields,
/// which for the ten or twenty of a real head is less than hashing it; nothing is lowercased or copied.
/// Order and names are those of [RFC 9110 §5](https://www.rfc-editor.org/rfc/rfc9110#section-5).
///
/// A head is two arrays, whatever it holds: most fields of most responses are never asked for, so a `String`
/// is made of one that is.
struct HeaderFields: Hashable, Sendable {
    /// One line of a head. Two are equal when their names differ in case only and their values not at all.
    struct Field: Hashable, Codable, Sendable {
        /// As received or as set, without the colon.
        let name: String
        /// Without the white space around it.
        var value: String

        static func == (one: Field, other: Field) -> Bool {
            one.value.utf8.elementsEqual(other.value.utf8)
                && one.name.isEqualIgnoringASCIICase(to: other.name)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(name.utf8.count)  // spelled in any case, a name is as long
            hasher.combine(value)  // coarser than octets, so equal fields hash alike
        }
    }

    /// The place of one line among the octets; it begins where the line before it ends.
    private struct Line: Hashable, Sendable {
        var nameEnd: Int
        var end: Int
    }

    /// Names and values, one after the other, in UTF-8.
    private var octets: [UInt8] = []
    private var lines: [Line] = []
    /// A bit for each length of a name: most names that are looked for are not there, nor one as long.
    private var nameLengths: UInt64 = 0

    init() {}

    /// From a dictionary, ordered by name so that equal dictionaries give equal values.
    init(_ dictionary: [String: String]) {
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { append(name: name, value: value) }
    }

    /// Without fields, and with room for those of a usual head.
    static func withRoom() -> HeaderFields { HeaderFields(roomFor: 16, octets: 480) }

    /// Without fields, and with room for some lines and the octets of their names and values.
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

    /// All of them, in order, repeated names included.
    var fields: [Field] { lines.indices.map { Field(name: name($0), value: value($0)) } }

    var count: Int { lines.count }

    /// Of all names and values.
    var octetCount: Int { octets.count }

    var isEmpty: Bool { lines.isEmpty }

    /// The first value of that name.
    ///
    /// Setting replaces the first and removes the others of that name; a new name goes to the end; `nil`
    /// removes all of that name.
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

    /// Whether there is a field of that name.
    func contains(_ name: String) -> Bool { index(of: name) != nil }

    /// Every value of that name, in order.
    func values(for name: String) -> [String] {
        var values: [String] = []
        forEachValue(of: name) { values.append(String($0)) }
        return values
    }

    /// Calls `body` with the octets of every value of that name, in order.
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

    /// The values of that name as one list, `nil` when there is none
    /// ([RFC 9110 §5.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.3)).
    ///
    /// Not for `Set-Cookie`, whose values hold commas of their own.
    func combined(for name: String) -> String? {
        guard let first = index(of: name) else { return nil }
        guard index(of: name, from: first + 1) != nil else { return value(first) }
        return values(for: name).joined(separator: ", ")
    }

    /// The value of that name, `nil` when there is none, or when its lines have different ones.
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
        let name = name.utf8Span.span
        var index = first
        while index < lines.count {
            if isLine(index, of: name) { return index }
            index += 1
        }
        return nil
    }

    private func isLine(_ index: Int, of name: Span<UInt8>) -> Bool {
        let start = start(index)
        guard lines[index].nameEnd - start == name.count else { return false }  // most names differ in length
        for offset in name.indices {
            let (one, other) = (octets[start + offset], name[offset])
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

    /// One value for each name, as `HTTPURLResponse` takes them: repeated names are combined under their
    /// first spelling. Linear in the number of fields, which the other side decides.
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

    /// Adds a field and keeps those of the same name.
    mutating func append(name: String, value: String) {
        octets.append(contentsOf: name.utf8)
        let nameEnd = octets.count
        octets.append(contentsOf: value.utf8)
        endLine(nameEnd: nameEnd)
    }

    /// Adds a field, both in UTF-8.
    mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        octets.append(name)
        let nameEnd = octets.count
        octets.append(value)
        endLine(nameEnd: nameEnd)
    }

    /// Adds a field of a head as it came: a value that is no UTF-8 is ISO 8859-1. An entity tag of such
    /// octets is none (``EntityTag``): the text could be that of another tag, in UTF-8.
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

    /// Adds one line of a head as it came from the wire, with or without its line end.
    ///
    /// A line that starts with white space continues the value before it, as [RFC 9112
    /// §5.2](https://www.rfc-editor.org/rfc/rfc9112#section-5.2) tells a user agent to read it. Octets that
    /// are not UTF-8 become U+FFFD: such a value can be shown but never sent back as it came.
    ///
    /// - Returns: whether it was a field; a status line and the empty line are not, and change nothing.
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

    /// Adds to the value of the last field as it came, after a space.
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

    /// Removes the fields that `shouldRemove` says.
    mutating func removeAll(where shouldRemove: (Field) -> Bool) {
        let old = self
        removeAll()
        for (index, field) in old.fields.enumerated() where !shouldRemove(field) { append(old, index) }
    }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
    /// In the order written; a name may be repeated.
    init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name: name, value: value) }
    }
}

/// Under which spelling each name came first: a list for the heads that there are, hashed for one that is
/// made to cost time.
private struct Spellings {
    let isLarge: Bool
    private var list: [String] = []
    private var table: [CaseInsensitiveName: String] = [:]

    init(isLarge: Bool) {
        self.isLarge = isLarge
        if !isLarge { list.reserveCapacity(32) }
    }

    /// The spelling of an earlier name, `nil` for the first of its kind, which is remembered.
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

// By hand: an archive is not trusted with octets. Its names and values are checked as those of any request.
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
