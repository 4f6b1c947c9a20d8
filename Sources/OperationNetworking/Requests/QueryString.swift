internal import Foundation

/// Parameters encoded as the query of a URL or the body of a form.
///
/// | Parameter                   | Pairs                                            |
/// |-----------------------------|--------------------------------------------------|
/// | `"k": value`                | `k=value`                                        |
/// | `"k": ["a": 1, "b": 2]`     | `k[a]=1&k[b]=2`, sorted by key                   |
/// | `"k": [1, 2]`               | `k[]=1&k[]=2`, depending on the ``ArrayStyle``   |
/// | `"k": Set([1, 2])`          | `k=1&k=2`, sorted by description                 |
/// | `"k": nil`, `"k": NSNull()` | `k`                                              |
/// | `"k": true`                 | `k=1`                                            |
/// | `"k": Data([1, 2])`         | `k=AQI=`: Base64 (AFNetworking: its description) |
///
/// Keys are sorted by UTF-16 code units, so equal parameters always give the same text. Whole floating-point
/// numbers are written without a fraction, like `NSNumber` on Apple's platforms. A `Date` is written as its
/// description, a `URL` as its absolute string.
///
/// Any other `Encodable` value is written as it encodes, as in ``init(encoding:arrayStyle:)``; a
/// `RawRepresentable` value, such as an `enum` of strings, as its raw value; and any other value with a
/// custom description as that description, as in AFNetworking. A value with none of these, such as
/// `NSObject()`, an object of your own class, or a closure, is an error (AFNetworking sent its class and
/// address). ``JSONRequestSerializer`` and ``PropertyListRequestSerializer`` accept the same values.
public struct QueryString: Hashable, Sendable {
    /// The encoding of arrays.
    ///
    /// | Style         | `"k": [1, 2]`      | `"k": [["a": 1], ["a": 2]]` | `"k": [[1], [2]]`       |
    /// |---------------|--------------------|-----------------------------|-------------------------|
    /// | ``brackets``  | `k[]=1&k[]=2`      | `k[][a]=1&k[][a]=2`         | `k[][]=1&k[][]=2`       |
    /// | ``indices``   | `k[0]=1&k[1]=2`    | `k[0][a]=1&k[1][a]=2`       | `k[0][0]=1&k[1][0]=2`   |
    /// | ``repeated``  | `k=1&k=2`          | `k[a]=1&k[a]=2`             | `k=1&k=2`               |
    /// | ``comma``     | `k=1,2`            | `k[][a]=1&k[][a]=2`         | `k[]=1&k[]=2`           |
    ///
    /// An empty array is not written.
    public enum ArrayStyle: String, Hashable, Sendable, CaseIterable, Codable {
        /// Appends empty brackets to the name, as in AFNetworking, PHP and Rails. The default.
        case brackets
        /// Appends the position, from 0, in brackets to the name.
        case indices
        /// Repeats the name for each element, as in HTML forms.
        case repeated
        /// Writes one pair for all elements.
        ///
        /// Commas between elements are not escaped, and those inside of elements are, as in the form-style
        /// expansion of [RFC 6570 §3.2.8](https://www.rfc-editor.org/rfc/rfc6570#section-3.2.8), so a server
        /// that splits before it decodes recovers the elements. A null is an empty element, which preserves
        /// the positions of the others. An array that contains dictionaries, arrays or sets, or values that
        /// encode these, cannot be one pair and is written with brackets.
        case comma
    }

    /// An unescaped pair `name=value`.
    public struct Pair: Hashable, Sendable {
        /// The name including brackets, such as `k[a]`.
        public let name: String
        /// The value; `nil` for a name without `=`.
        public let value: String?
    }

    /// The escaped text, such as `name=value&name=value`; empty without pairs.
    public let description: String

    /// Encodes a dictionary, in AFNetworking's order.
    ///
    /// - Throws: ``RequestSerializationError/invalidParameter(at:found:)``,
    ///   ``RequestSerializationError/parametersTooDeep(limit:)``, and any error of an `Encodable` value.
    public init(_ parameters: [String: Any], arrayStyle: ArrayStyle = .brackets) throws {
        try self.init(untyped: parameters, arrayStyle: arrayStyle)
    }

    /// Encodes an `Encodable` value like a dictionary.
    ///
    /// | Encoded                   | Written                                                       |
    /// |---------------------------|---------------------------------------------------------------|
    /// | a `nil` optional property | not written: `encodeIfPresent` omits it, as for `JSONEncoder` |
    /// | `encodeNil(forKey:)`      | the name without `=`                                          |
    /// | `Date`                    | `2026-11-21T10:42:45Z`: `.iso8601` of `JSONEncoder`           |
    /// | `Data`                    | Base64, as in `JSONEncoder`                                   |
    /// | `URL`, `Decimal`, `Bool`  | `http://h/`, `12.5`, `1` or `0`                               |
    ///
    /// A date is not written as the default number of `JSONEncoder`: only Foundation counts seconds since
    /// 2001.
    ///
    /// - Throws: ``RequestSerializationError/unsupportedParameters(type:)`` if the value does not encode a
    ///   keyed container, ``RequestSerializationError/parametersTooDeep(limit:)``, an `EncodingError` for a
    ///   number that is not finite or a date outside of the years 1 to 9999, and any error of the value
    ///   itself.
    public init(encoding value: some Encodable, arrayStyle: ArrayStyle = .brackets) throws {
        try self.init(untyped: EncodedParameters(value: value), arrayStyle: arrayStyle)
    }

    /// Encodes a dictionary of any type, or an `Encodable` value.
    init(untyped parameters: Any, arrayStyle: ArrayStyle) throws {
        let value = EncodedParameters.unwrapped(parameters)
        let tree = try ParameterTree(value, for: .form(isEncoded: parameters is EncodedParameters))
        guard case .dictionary(let names, let values) = tree else {
            throw RequestSerializationError.unsupportedParameters(type: "\(type(of: value))")
        }
        description = QueryWriter.text(names: names, values: values, arrayStyle: arrayStyle)
    }

    // MARK: - Parts

    /// The pairs, in order.
    public var pairs: [Pair] {
        guard !description.isEmpty else { return [] }
        return description.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map {
            pair in
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let value = pair[end...].dropFirst()
            return Pair(
                name: QueryString.unescape(pair[..<end]),
                value: end == pair.endIndex ? nil : QueryString.unescape(value)
            )
        }
    }

    // MARK: - Escaping

    /// Returns the text as UTF-8 with every octet except `A-Z a-z 0-9 - . _ ~ / ?` as `%XX`.
    ///
    /// A space becomes `%20`, never `+`. Escaped text is escaped again. `/` and `?` are kept because [RFC
    /// 3986 §3.4](https://www.rfc-editor.org/rfc/rfc3986#section-3.4) allows both in a query.
    public static func escape(_ text: String) -> String {
        QueryWriter.escape(text)
    }

    /// The inverse of ``escape(_:)``.
    private static func unescape(_ octets: Substring.UTF8View) -> String {
        let text = String(decoding: octets, as: UTF8.self)
        return text.removingPercentEncoding ?? text
    }
}

// MARK: - CustomStringConvertible

extension QueryString: CustomStringConvertible {}

/// Writes parameters as the text of a ``QueryString``, in one pass into one buffer.
struct QueryWriter {
    private var octets: [UInt8] = []
    /// The current name, escaped.
    private var escapedName: [UInt8] = []
    private var hasWritten = false

    private init(capacity: Int) {
        octets.reserveCapacity(capacity)
    }

    /// Returns the text for a dictionary.
    static func text(
        names: [String],
        values: [ParameterTree],
        arrayStyle: QueryString.ArrayStyle
    ) -> String {
        let writer = QueryWriter(capacity: names.count * 32)
        let walk = ParameterWalk(names: names, values: values, arrayStyle: arrayStyle, to: writer)
        return String(decoding: walk.writer.octets, as: UTF8.self)
    }

    static func escape(_ text: String) -> String {
        var octets: [UInt8] = []
        octets.reserveCapacity(text.utf8.count)
        octets.append(escaping: text)
        return String(decoding: octets, as: UTF8.self)
    }

    /// Writes a separator and the name.
    private mutating func beginPair() {
        if hasWritten { octets.append(UInt8(ascii: "&")) }
        hasWritten = true
        octets.append(contentsOf: escapedName)
    }
}

// MARK: - ParameterWriter

extension QueryWriter: ParameterWriter {
    static var keepsData: Bool { false }

    /// The length of the name.
    var name: Int { escapedName.count }

    mutating func extendName(by text: String) {
        escapedName.append(escaping: text)
    }

    mutating func restoreName(_ name: Int) {
        escapedName.removeLast(escapedName.count - name)
    }

    mutating func write(text: String) {
        beginPair()
        octets.append(UInt8(ascii: "="))
        octets.append(escaping: text)
    }

    mutating func write(data: Data) {
        write(text: data.base64EncodedString())
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
    /// Appends text with every octet that is not kept in a query as `%XX`.
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
    /// The hexadecimal digit of a value below 16.
    fileprivate var hexadecimalDigit: UInt8 {
        self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "A") + self - 10
    }

    /// Whether AFNetworking does not escape this octet.
    fileprivate var staysInQuery: Bool {
        // Letters, digits and -._~/? as two bit sets: a list of ranges is several times slower.
        let bits: UInt64 = self < 0x40 ? 0x83FF_E000_0000_0000 : 0x47FF_FFFE_87FF_FFFE
        return self < 0x80 && bits >> UInt64(self & 0x3F) & 1 == 1
    }
}
