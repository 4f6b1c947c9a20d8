internal import Foundation

/// Parameters as the text after the `?` of a URL, or as the body of a form.
///
/// | Parameter                  | Pairs                                                          |
/// |----------------------------|----------------------------------------------------------------|
/// | `"k": value`               | `k=value`                                                      |
/// | `"k": ["a": 1, "b": 2]`    | `k[a]=1&k[b]=2`, in the order of the keys                      |
/// | `"k": [1, 2]`              | `k[]=1&k[]=2`, in the order of the elements                    |
/// | `"k": Set([1, 2])`         | `k=1&k=2`, in the order of the elements' descriptions          |
/// | `"k": nil`, `"k": NSNull()`| `k`                                                            |
/// | `"k": true`                | `k=1`                                                          |
///
/// Keys are sorted by their UTF-16 code units, so the same parameters always give the same text. Anything
/// else is its description; a floating-point number that is whole is written without a fraction, as
/// `NSNumber` writes it on Apple's platforms. All of this is AFNetworking's rule, to the octet.
public struct QueryString: Hashable, Sendable {
    /// One `name=value`, not yet escaped.
    public struct Pair: Hashable, Sendable {
        /// Brackets included, such as `k[a]`.
        public let name: String
        /// `nil` stands for a name without `=`.
        public let value: String?
    }

    /// In the order they are written.
    public let pairs: [Pair]

    /// The parameters in AFNetworking's order and with its brackets.
    public init(_ parameters: [String: any Sendable]) {
        pairs = QueryString.leaves(of: parameters).map(Pair.init)
    }

    /// The same for a dictionary of any type, `nil` for anything that is no dictionary.
    init?(untyped parameters: Any) {
        guard let dictionary = parameters as? [AnyHashable: Any] else { return nil }
        var leaves: [Leaf] = []
        QueryString.append(dictionary, to: &leaves)
        pairs = leaves.map(Pair.init)
    }

    // MARK: - Leaves

    /// A parameter's value under the name it has in a query, before it is text.
    struct Leaf {
        let name: String
        /// Neither a container nor an optional; `nil` stands for null.
        let value: Any?
    }

    /// The values of all parameters, in the order of ``pairs``.
    static func leaves(of parameters: [String: any Sendable]) -> [Leaf] {
        var leaves: [Leaf] = []
        append(parameters, to: &leaves)
        return leaves
    }

    // MARK: - Escaping

    /// The text as UTF-8 with every octet as `%XX` but `A-Z a-z 0-9 - . _ ~ / ?`.
    ///
    /// A space is `%20`, never `+`; text that was escaped before is escaped again. `/` and `?` stay because
    /// [RFC 3986 §3.4](https://www.rfc-editor.org/rfc/rfc3986#section-3.4) allows both in a query.
    public static func escape(_ text: String) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count)
        for octet in text.utf8 {
            if octet.staysInQuery {
                escaped.append(octet)
            } else {
                escaped.append(UInt8(ascii: "%"))
                escaped.append(hexadecimalDigit(octet >> 4))
                escaped.append(hexadecimalDigit(octet & 15))
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    // MARK: - Pairs

    /// The leaves of a dictionary, which are at the top level when `key` is `nil`.
    private static func append(
        _ dictionary: [AnyHashable: Any],
        under key: String? = nil,
        to leaves: inout [Leaf]
    ) {
        let sorted = dictionary.map { (name: text(of: $0.key.base), value: $0.value) }
            .sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
        for (name, value) in sorted {
            append(value, named: key.map { "\($0)[\(name)]" } ?? name, to: &leaves)
        }
    }

    private static func append(_ value: Any, named name: String, to leaves: inout [Leaf]) {
        guard let value = unwrapped(value), !(value is NSNull) else {
            leaves.append(Leaf(name: name, value: nil))
            return
        }
        // Text first: it is what most parameters are, and the casts below cost more.
        if value is String {
            leaves.append(Leaf(name: name, value: value))
        } else if let dictionary = value as? [AnyHashable: Any] {
            append(dictionary, under: name, to: &leaves)
        } else if let array = value as? [Any] {
            for element in array { append(element, named: name + "[]", to: &leaves) }
        } else if let set = value as? Set<AnyHashable> {
            let sorted = set.map { (text: text(of: $0.base), element: $0.base) }
                .sorted { $0.text.utf16.lexicographicallyPrecedes($1.text.utf16) }
            for (_, element) in sorted { append(element, named: name, to: &leaves) }
        } else {
            leaves.append(Leaf(name: name, value: value))
        }
    }

    /// What `description` is in AFNetworking, where every number is an `NSNumber`.
    fileprivate static func text(of value: Any) -> String {
        switch value {
        case let text as String: text
        case let flag as Bool: flag ? "1" : "0"
        case let number as Int64: "\(number)"  // before Double: an NSNumber is any of the three that fits
        case let number as UInt64: "\(number)"
        case let number as Double: whole(number) ?? "\(number)"
        case let number as Float: whole(Double(number)) ?? "\(number)"
        default: String(describing: value)
        }
    }

    /// A number without a fraction as an integer, as long as a `Double` counts in ones.
    private static func whole(_ number: Double) -> String? {
        guard number.magnitude < 0x1p53, let integer = Int64(exactly: number) else { return nil }
        return String(integer)
    }

    /// The value inside any number of optionals, `nil` when one of them is empty.
    private static func unwrapped(_ value: Any) -> Any? {
        guard let optional = value as? any OptionalValue else { return value }
        return optional.inner.flatMap(unwrapped)
    }

    private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension QueryString.Pair {
    fileprivate init(_ leaf: QueryString.Leaf) {
        name = leaf.name
        value = leaf.value.map(QueryString.text)
    }
}

extension QueryString.Leaf {
    /// As AFNetworking writes it; empty for null.
    var text: String { value.map(QueryString.text) ?? "" }
}

// MARK: - CustomStringConvertible

extension QueryString: CustomStringConvertible {
    /// The escaped text: empty for no pairs, else `name=value&name=value`.
    public var description: String {
        pairs.map { pair in
            let name = QueryString.escape(pair.name)
            return pair.value.map { "\(name)=\(QueryString.escape($0))" } ?? name
        }.joined(separator: "&")
    }
}

extension UInt8 {
    /// Whether AFNetworking leaves this octet of a query as it is.
    fileprivate var staysInQuery: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "?"):
            true
        default:
            false
        }
    }
}

/// An optional whose wrapped type is not known.
private protocol OptionalValue {
    var inner: Any? { get }
}

extension Optional: OptionalValue {
    var inner: Any? { map { $0 as Any } }
}
