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
struct HeaderFields: Hashable, Sendable {
    /// One line of a head. Two are equal when their names differ in case only and their values not at all.
    struct Field: Hashable, Sendable {
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

    /// All of them, in order, repeated names included.
    private(set) var fields: [Field] = []

    init() {}

    /// From a dictionary, ordered by name so that equal dictionaries give equal values.
    init(_ dictionary: [String: String]) {
        fields = dictionary.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) }
    }

    // MARK: - Reading

    var count: Int { fields.count }

    var isEmpty: Bool { fields.isEmpty }

    /// The first value of that name.
    ///
    /// Setting replaces the first and removes the others of that name; a new name goes to the end; `nil`
    /// removes all of that name.
    subscript(name: String) -> String? {
        get {
            for field in fields where field.name.isEqualIgnoringASCIICase(to: name) { return field.value }
            return nil
        }
        set {
            guard let newValue else {
                fields.removeAll { $0.name.isEqualIgnoringASCIICase(to: name) }
                return
            }
            guard let first = fields.firstIndex(where: { $0.name.isEqualIgnoringASCIICase(to: name) }) else {
                fields.append(Field(name: name, value: newValue))
                return
            }
            fields[first] = Field(name: name, value: newValue)
            for index in fields.indices.reversed() where index > first {
                if fields[index].name.isEqualIgnoringASCIICase(to: name) { fields.remove(at: index) }
            }
        }
    }

    /// Every value of that name, in order.
    func values(for name: String) -> [String] {
        var values: [String] = []
        for field in fields where field.name.isEqualIgnoringASCIICase(to: name) { values.append(field.value) }
        return values
    }

    /// The values of that name as one list, `nil` when there is none
    /// ([RFC 9110 §5.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.3)).
    ///
    /// Not for `Set-Cookie`, whose values hold commas of their own.
    func combined(for name: String) -> String? {
        let values = values(for: name)
        return values.count > 1 ? values.joined(separator: ", ") : values.first
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
        fields.append(Field(name: name, value: value))
    }

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
            guard let last = fields.indices.last else { return false }
            fields[last].value += " " + String(decoding: text, as: UTF8.self)
            return true
        }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let name = String(decoding: text[..<colon], as: UTF8.self)
        guard name.isHTTPToken else { return false }
        let value = text[text.index(after: colon)...].trimmingHTTPWhitespace()
        fields.append(Field(name: name, value: String(decoding: value, as: UTF8.self)))
        return true
    }

    /// Adds to the value of the last field, after a space.
    mutating func continueLast(with text: String) {
        guard let last = fields.indices.last else { return }
        fields[last].value += " " + text
    }

    mutating func removeAll() {
        fields.removeAll(keepingCapacity: true)
    }

    /// Removes the fields that `shouldRemove` says.
    mutating func removeAll(where shouldRemove: (Field) -> Bool) {
        fields.removeAll(where: shouldRemove)
    }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
    /// In the order written; a name may be repeated.
    init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
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
