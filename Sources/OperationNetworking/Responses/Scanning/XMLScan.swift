internal import Foundation

/// A scan of an XML document before it is parsed. It rejects documents that would make a parser use excessive
/// time, memory or stack, or read other files.
///
/// | Refused                                                    | Why                                              |
/// |------------------------------------------------------------|--------------------------------------------------|
/// | an internal subset (`<!DOCTYPE a [`)                       | entities can grow, or refer to files and URLs    |
/// | more than 256 levels of elements                           | they exhaust the stack of a recursive parser     |
/// | more than 1,024 attributes in one element                  | all pairs are compared: 40,000 take 17 s         |
/// | more than 256 namespaces in scope                          | all are searched for every name                  |
/// | dictionaries of a property list with too many keys         | see ``maximumKeyPairCount``                      |
/// | more nodes than a tree may have                            | each takes 130 to 250 bytes                      |
/// | an instruction without data (`<?p?>`)                      | it crashes FoundationXML                         |
/// | text outside of the root, or not exactly one whole root    | it would be another format of property list      |
///
/// A document type that only names a DTD is accepted, and that DTD is never loaded. The parser checks whether
/// names match and whether the markup is otherwise well-formed; every parser stops where it is not.
struct XMLScan {
    /// As in libxml2.
    static let maximumDepth = 256
    static let maximumAttributeCount = 1024
    static let maximumNamespaceCount = 256
    /// The maximum number of pairs of keys in all dictionaries: 2^26, which allows 11,585 keys in one.
    ///
    /// CoreFoundation's hash of a string is predictable and covers only a part of it. A dictionary whose keys
    /// have equal hashes takes quadratic time: 2 s for 8,000 keys in 600 KB.
    static let maximumKeyPairCount = 1 << 26

    /// The number of levels of elements.
    private(set) var depth = 0

    private let isPropertyList: Bool
    private let maximumNodeCount: Int
    private var nodeCount = 0
    private var isInText = false
    private var position = 0
    private var keyPairCount = 0
    private var namespaces = 0
    private var hasRoot = false
    /// For each open element, the number of namespaces that it declares, and of its keys.
    private var elements: [(namespaces: Int, keys: Int)] = []

    /// - Parameters:
    ///   - octets: UTF-8.
    ///   - isPropertyList: whether CoreFoundation is going to parse it. Its parser takes the first `>` for
    ///     the end of a tag, even inside quotes, so quotes must not contain one.
    ///   - maximumNodeCount: the maximum number of nodes. An element, text, comment or instruction counts
    ///     once, an attribute twice, white space not at all. A parser that creates no tree needs no limit.
    /// - Throws: the first reason for refusing the document.
    init(
        _ octets: Span<UInt8>,
        isPropertyList: Bool = false,
        maximumNodeCount: Int = .max
    ) throws(BodyRefusal) {
        self.isPropertyList = isPropertyList
        self.maximumNodeCount = maximumNodeCount
        while position < octets.count {
            if octets[position] == UInt8(ascii: "<") {
                isInText = false
                try readMarkup(octets)
            } else {
                if !octets[position].isXMLSpace {
                    guard !elements.isEmpty else {
                        throw BodyRefusal("text outside of the root element", at: position)
                    }
                    if !isInText { try count(1) }
                    isInText = true
                }
                position += 1
            }
        }
        guard hasRoot, elements.isEmpty else { throw BodyRefusal("an incomplete element", at: position) }
    }

    private mutating func count(_ nodes: Int) throws(BodyRefusal) {
        nodeCount += nodes
        guard nodeCount <= maximumNodeCount else {
            throw BodyRefusal(
                "more than \(maximumNodeCount) values or nodes, too many for a tree",
                at: position
            )
        }
    }

    private mutating func readMarkup(_ octets: Span<UInt8>) throws(BodyRefusal) {
        guard position + 1 < octets.count else { throw BodyRefusal("a malformed tag", at: position) }
        switch octets[position + 1] {
        case UInt8(ascii: "/"):
            guard let element = elements.popLast() else {
                throw BodyRefusal("an end tag without its start tag", at: position)
            }
            namespaces -= element.namespaces
            try skip(to: ">", from: position + 2, octets)
        case UInt8(ascii: "?"):
            try count(1)
            let name = octets.range(from: position + 2) { !$0.isXMLSpace && $0 != UInt8(ascii: "?") }
            guard !octets.has("?>", at: name.upperBound) else {
                throw BodyRefusal("an instruction without data", at: position)
            }
            try skip(to: "?>", from: name.upperBound, octets)
        case UInt8(ascii: "!") where octets.has("--", at: position + 2):
            try count(1)
            try skip(to: "-->", from: position + 4, octets)
        case UInt8(ascii: "!") where octets.has("[CDATA[", at: position + 2) && !elements.isEmpty:
            try count(1)
            try skip(to: "]]>", from: position + 9, octets)
        case UInt8(ascii: "!") where octets.has("DOCTYPE", at: position + 2) && !hasRoot:
            _ = try skipTag(octets, isDocumentType: true)
        case let octet:
            guard octet.beginsXMLName else { throw BodyRefusal("a malformed tag", at: position) }
            try openElement(octets)
        }
    }

    private mutating func openElement(_ octets: Span<UInt8>) throws(BodyRefusal) {
        let start = position
        guard elements.isEmpty == !hasRoot else { throw BodyRefusal("more than one root element", at: start) }
        guard elements.count < Self.maximumDepth else {
            throw BodyRefusal("more than \(Self.maximumDepth) levels of elements", at: start)
        }
        hasRoot = true
        let (attributes, declared) = try skipTag(octets, isDocumentType: false)
        try count(1 + 2 * attributes)
        guard attributes <= Self.maximumAttributeCount, namespaces + declared <= Self.maximumNamespaceCount
        else { throw BodyRefusal("more attributes or namespaces than are allowed", at: start) }
        if isPropertyList, octets.has("<key", at: start), !octets[start + 4].beginsXMLName, !elements.isEmpty
        {
            keyPairCount += elements[elements.count - 1].keys
            elements[elements.count - 1].keys += 1
            guard keyPairCount <= Self.maximumKeyPairCount else {
                throw BodyRefusal("a dictionary with too many keys", at: start)
            }
        }
        guard octets[position - 2] != UInt8(ascii: "/") else { return }
        elements.append((declared, 0))
        namespaces += declared
        depth = max(depth, elements.count)
    }

    /// Moves past the `>` of a tag or a document type.
    ///
    /// - Returns: the number of quoted values, and of declared namespaces.
    private mutating func skipTag(
        _ octets: Span<UInt8>,
        isDocumentType: Bool
    ) throws(BodyRefusal) -> (values: Int, namespaces: Int) {
        var (values, declared) = (0, 0)
        var quote: UInt8?
        var index = position + 2
        while index < octets.count {
            let octet = octets[index]
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil {
                    quote = octet
                    values += 1
                } else if quote == octet {
                    quote = nil
                }
            case UInt8(ascii: ">") where quote == nil:
                position = index + 1
                return (values, declared)
            case UInt8(ascii: ">") where isPropertyList || isDocumentType, UInt8(ascii: "<"):
                throw BodyRefusal("a malformed tag", at: position)
            case UInt8(ascii: "[") where isDocumentType:
                throw BodyRefusal("a document type with declarations", at: position)
            case _ where octet.isXMLSpace && quote == nil && octets.has("xmlns", at: index + 1):
                declared += 1
            default:
                break
            }
            index += 1
        }
        throw BodyRefusal("markup without an end", at: position)
    }

    private mutating func skip(to end: String, from start: Int, _ octets: Span<UInt8>) throws(BodyRefusal) {
        let first = end.utf8Span.span[0]
        var index = start
        while index < octets.count, octets[index] != first || !octets.has(end, at: index) { index += 1 }
        guard index < octets.count else { throw BodyRefusal("markup without an end", at: position) }
        position = index + end.utf8.count
    }
}

// MARK: - The text

/// An XML document in UTF-8, without a byte order mark, and without a declaration of another encoding.
///
/// The encoding is determined once: by the first octets, otherwise by the `charset` of the response,
/// otherwise by the declaration, otherwise UTF-8. A document in another encoding is transcoded, and its
/// declaration no longer names that encoding.
struct XMLText {
    /// Valid UTF-8.
    let octets: Data

    /// - Parameters:
    ///   - body: the body as received.
    ///   - charset: the character set of the response. An unknown one is ignored.
    /// - Throws: an error in the encoding or its declaration.
    init(_ body: Data, charset: String?) throws(BodyRefusal) {
        var charset = charset.flatMap { NamedCharacterSet(name: $0) == nil ? nil : $0 }
        if charset == nil, NamedCharacterSet(beginningOf: body) == nil {
            charset = try XMLText.encoding(declaredIn: body.span)?.name
            if let charset, NamedCharacterSet(name: charset) == nil {
                throw BodyRefusal("in the unknown encoding \(charset)", at: 0)
            }
        }
        guard let octets = body.asUTF8(charset: charset),
            (try? UTF8Span(validating: octets.span)) != nil
        else { throw BodyRefusal("not text in its encoding", at: 0) }
        guard let encoding = try XMLText.encoding(declaredIn: octets.span),
            encoding.name.lowercased() != "utf-8"
        else {
            self.octets = octets
            return
        }
        self.octets = Data(
            octets.prefix(encoding.range.lowerBound) + octets.dropFirst(encoding.range.upperBound)
        )
    }

    /// The encoding that the XML declaration names, and the range of octets to remove for it. The declaration
    /// is parsed strictly ([XML §2.8](https://www.w3.org/TR/xml/#NT-XMLDecl)), because a more lenient parser
    /// could find another encoding in it.
    private static func encoding(
        declaredIn octets: Span<UInt8>
    ) throws(BodyRefusal) -> (name: String, range: Range<Int>)? {
        guard octets.has("<?xml"), octets.count > 5, octets[5].isXMLSpace else { return nil }
        var encoding: (name: String, range: Range<Int>)?
        var position = 5
        while true {
            let start = position
            position = octets.range(from: position, while: \.isXMLSpace).upperBound
            if octets.has("?>", at: position) { return encoding }
            let name = octets.range(from: position) { $0 &- UInt8(ascii: "a") < 26 }
            let equals = octets.range(from: name.upperBound, while: \.isXMLSpace).upperBound
            position = octets.range(from: equals + 1, while: \.isXMLSpace).upperBound
            guard name.lowerBound > start, !name.isEmpty, octets.has("=", at: equals),
                octets.has("\"", at: position) || octets.has("'", at: position),
                case let quote = octets[position],
                case let value = octets.range(
                    from: position + 1,
                    while: { (0x21...0x7E).contains($0) && $0 != quote }
                ),
                value.upperBound < octets.count, octets[value.upperBound] == quote
            else { break }
            position = value.upperBound + 1
            guard octets.has("encoding", at: name.lowerBound), name.count == 8 else { continue }
            guard encoding == nil else { break }
            let text = String(decoding: value.map { octets[$0] }, as: UTF8.self)
            encoding = (text, start..<position)
        }
        throw BodyRefusal("its declaration is malformed", at: position)
    }
}

extension UInt8 {
    /// [XML §2.3](https://www.w3.org/TR/xml/#NT-S).
    var isXMLSpace: Bool { self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D }

    /// Whether a name may begin with this octet.
    fileprivate var beginsXMLName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"), 0x80...0xFF:
            true
        default:
            false
        }
    }
}
