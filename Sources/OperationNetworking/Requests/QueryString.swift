internal import Foundation

/// Parameters as the text after the `?` of a URL, or as the body of a form.
///
/// | Parameter                  | Pairs                                                          |
/// |----------------------------|----------------------------------------------------------------|
/// | `"k": value`               | `k=value`                                                      |
/// | `"k": ["a": 1, "b": 2]`    | `k[a]=1&k[b]=2`, in the order of the keys                      |
/// | `"k": [1, 2]`              | `k[]=1&k[]=2`, or as ``ArrayStyle`` says                       |
/// | `"k": Set([1, 2])`         | `k=1&k=2`, in the order of the elements' descriptions          |
/// | `"k": nil`, `"k": NSNull()`| `k`                                                            |
/// | `"k": true`                | `k=1`                                                          |
/// | `"k": Data([1, 2])`        | `k=AQI=`: Base64; AFNetworking wrote its description            |
///
/// Keys are sorted by their UTF-16 code units, so the same parameters always give the same text. A
/// floating-point number that is whole is written without a fraction, as `NSNumber` writes it on Apple's
/// platforms. A `Date` is its description, a `URL` the whole address.
///
/// Any other value that is `Encodable` is what it encodes, as in ``init(encoding:arrayStyle:)``; one that is
/// `RawRepresentable`, as an `enum` of strings, is its raw value; any other with a description of its own is
/// that description, AFNetworking's rule. What has none of these, such as `NSObject()`, an object of a class of
/// yours, or a closure, is an error: AFNetworking sent its class and its address. ``JSONRequestSerializer`` and
/// ``PropertyListRequestSerializer`` take the same values.
public struct QueryString: Hashable, Sendable {
    /// The style of an array.
    ///
    /// | Style         | `"k": [1, 2]`      | `"k": [["a": 1], ["a": 2]]` | `"k": [[1], [2]]`       |
    /// |---------------|--------------------|-----------------------------|-------------------------|
    /// | ``brackets``  | `k[]=1&k[]=2`      | `k[][a]=1&k[][a]=2`         | `k[][]=1&k[][]=2`       |
    /// | ``indices``   | `k[0]=1&k[1]=2`    | `k[0][a]=1&k[1][a]=2`       | `k[0][0]=1&k[1][0]=2`   |
    /// | ``repeated``  | `k=1&k=2`          | `k[a]=1&k[a]=2`             | `k=1&k=2`               |
    /// | ``comma``     | `k=1,2`            | `k[][a]=1&k[][a]=2`         | `k[]=1&k[]=2`           |
    ///
    /// An array without elements is not written at all.
    public enum ArrayStyle: String, Hashable, Sendable, CaseIterable, Codable {
        /// Empty brackets behind the name: AFNetworking's rule, and that of PHP and Rails.
        case brackets
        /// The position in brackets behind the name, from 0.
        case indices
        /// The name again for each element, as the fields of an HTML form.
        case repeated
        /// One pair for all elements.
        ///
        /// The commas between elements are not escaped and those inside of them are, as in the form-style
        /// expansion of [RFC 6570 §3.2.8](https://www.rfc-editor.org/rfc/rfc6570#section-3.2.8), so a
        /// server that splits before it decodes gets the elements back. A null is an empty element, which
        /// keeps the positions of the others. An array that holds dictionaries, arrays or sets, or values
        /// that encode such, cannot be one pair and has brackets.
        case comma
    }

    /// A pair `name=value`, not escaped.
    public struct Pair: Hashable, Sendable {
        /// Brackets included, such as `k[a]`.
        public let name: String
        /// `nil` stands for a name without `=`.
        public let value: String?
    }

    /// The escaped text: empty for no pairs, else `name=value&name=value`.
    public let description: String

    /// The parameters in AFNetworking's order.
    ///
    /// - Throws: ``RequestSerializationError/invalidParameter(at:found:)``,
    ///   ``RequestSerializationError/parametersTooDeep(limit:)``, and what an `Encodable` value throws.
    public init(_ parameters: [String: Any], arrayStyle: ArrayStyle = .brackets) throws {
        try self.init(untyped: parameters, arrayStyle: arrayStyle)
    }

    /// The query of an encoded value, written as a dictionary would be.
    ///
    /// | Encoded                     | Written                                                            |
    /// |-----------------------------|--------------------------------------------------------------------|
    /// | an empty optional property  | not at all: `encodeIfPresent` leaves it out, as for `JSONEncoder`  |
    /// | `encodeNil(forKey:)`        | the name without `=`                                               |
    /// | `Date`                      | `2026-11-21T10:42:45Z`, what `JSONEncoder` calls `.iso8601`        |
    /// | `Data`                      | Base64, as `JSONEncoder` does                                      |
    /// | `URL`, `Decimal`, `Bool`    | `http://h/`, `12.5`, `1` or `0`                                    |
    ///
    /// A date is not the number that a `JSONEncoder` writes when nothing is said: seconds since 2001 mean
    /// something to Foundation only.
    ///
    /// - Throws: ``RequestSerializationError/unsupportedParameters(type:)`` for a value that does not encode
    ///   names, ``RequestSerializationError/parametersTooDeep(limit:)``, an `EncodingError` for a number that
    ///   is not finite or a date outside of the years 1 to 9999, and what the value itself throws.
    public init(encoding value: some Encodable, arrayStyle: ArrayStyle = .brackets) throws {
        try self.init(untyped: EncodedParameters(value: value), arrayStyle: arrayStyle)
    }

    /// A dictionary of any type, or else what the value encodes.
    init(untyped parameters: Any, arrayStyle: ArrayStyle) throws {
        let value = EncodedParameters.unwrapped(parameters)
        let tree = try ParameterTree(value, for: .form(isEncoded: parameters is EncodedParameters))
        guard case .dictionary(let names, let values) = tree else {
            throw RequestSerializationError.unsupportedParameters(type: "\(type(of: value))")
        }
        description = QueryWriter.text(names: names, values: values, arrayStyle: arrayStyle)
    }

    // MARK: - Parts

    /// The pairs, in the order in which they are written.
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

    /// The text as UTF-8 with every octet as `%XX` but `A-Z a-z 0-9 - . _ ~ / ?`.
    ///
    /// A space is `%20`, never `+`; text that was escaped before is escaped again. `/` and `?` stay because
    /// [RFC 3986 §3.4](https://www.rfc-editor.org/rfc/rfc3986#section-3.4) allows both in a query.
    public static func escape(_ text: String) -> String {
        QueryWriter.escape(text)
    }

    /// The reverse of ``escape(_:)``, for its own text only.
    private static func unescape(_ octets: Substring.UTF8View) -> String {
        let text = String(decoding: octets, as: UTF8.self)
        return text.removingPercentEncoding ?? text
    }
}

// MARK: - CustomStringConvertible

extension QueryString: CustomStringConvertible {}

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

    /// Without the value: a separator and the name.
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
