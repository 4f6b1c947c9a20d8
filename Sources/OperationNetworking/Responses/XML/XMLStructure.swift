/// Why an XML document is not given to a parser.
struct XMLRefusal: Error, Hashable, Sendable {
    /// One sentence, or the end of one.
    let sentence: String

    init(_ reason: String, at offset: Int) {
        sentence = "\(reason) (octet \(offset))."
    }
}

/// The markup of an XML document, read beforehand, so that no document can make a parser use more than its
/// share of time, memory or stack, or read other files.
///
/// | Refused                                              | Why                                              |
/// |------------------------------------------------------|--------------------------------------------------|
/// | declarations in the document type (`<!DOCTYPE a [`)  | entities grow, or stand for files and addresses  |
/// | more than ``maximumDepth`` levels of elements        | they exhaust the stack of a recursive parser     |
/// | more than ``maximumAttributeCount`` in one element   | each is compared with each: 40,000 take 17 s     |
/// | more than ``maximumNamespaceCount`` in scope         | all are searched for every name                  |
/// | property lists of huge dictionaries                  | see ``BinaryPropertyList/maximumKeyPairCount``   |
/// | more than ``maximumNodeCount``, if it becomes a tree | each takes 130 to 180 bytes                      |
/// | elements that do not match, no root, text outside it | parsers that mend markup could see other levels  |
///
/// A document type that only names a DTD is accepted; that DTD is never loaded.
///
/// Strict where it looks, so that a parser cannot see other markup; not a check that a document is
/// well-formed.
struct XMLStructure {
    /// As in libxml2.
    static let maximumDepth = 256
    static let maximumAttributeCount = 1024
    static let maximumNamespaceCount = 256
    /// The limit of nodes in a document that becomes a tree, or of values in a property list: about 1 GiB.
    ///
    /// Foundation takes some 130 bytes for an element, a text, a comment, and 245 for an attribute. In
    /// property lists it takes 140 to 180 bytes for a value, and 435 for data. White space between tags is no
    /// node; where an option keeps it, it may double the tree.
    static let maximumNodeCount = BinaryPropertyList.maximumValueCount

    private let isPropertyList: Bool
    private let maximumNodeCount: Int
    private var nodeCount = 0
    private var isInText = false
    private var position = 0
    private var elements: [(name: Range<Int>, namespaces: Int, keys: Int)] = []
    private var keyPairs = 0
    private var bareInstructions: [Int] = []
    private var namespaces = 0
    private var hasRoot = false
    private var hasDocumentType = false

    /// - Parameters:
    ///   - octets: UTF-8, or ASCII followed by anything.
    ///   - isPropertyList: whether it is for CoreFoundation's parser, which takes the first `>` for the end
    ///     of a tag or of a document type, also inside quotes. Then quotes may not hold one.
    ///   - maximumNodeCount: the limit of nodes. A parser that makes no tree needs none.
    /// - Returns: where the processing instructions end that have a name only, such as `<?p?>`.
    /// - Throws: what is refused first.
    @discardableResult
    static func check(
        _ octets: Span<UInt8>,
        isPropertyList: Bool = false,
        maximumNodeCount: Int = .max
    ) throws(XMLRefusal) -> [Int] {
        var structure = XMLStructure(isPropertyList: isPropertyList, maximumNodeCount: maximumNodeCount)
        try structure.check(octets)
        return structure.bareInstructions
    }

    private init(isPropertyList: Bool, maximumNodeCount: Int) {
        self.isPropertyList = isPropertyList
        self.maximumNodeCount = maximumNodeCount
    }

    private mutating func check(_ octets: Span<UInt8>) throws(XMLRefusal) {
        while position < octets.count {
            guard octets[position] == UInt8(ascii: "<") else {
                let isSpace = octets[position].isXMLSpace
                guard !elements.isEmpty || isSpace else {
                    throw XMLRefusal("text outside of the root element", at: position)
                }
                if !isSpace, !isInText {
                    isInText = true
                    try count(1, inPropertyList: 0, at: position)
                }
                position += 1
                continue
            }
            isInText = false
            if octets.has("</", at: position) {
                try closeElement(octets)
            } else if octets.has("<?", at: position) {
                try count(1, inPropertyList: 0, at: position)
                let name = octets.range(from: position + 2, while: \.isXMLNameOctet)
                try skip(to: "?>", from: position + 2, octets)
                if name.upperBound == position - 2 { bareInstructions.append(name.upperBound) }
            } else if octets.has("<!--", at: position) {
                try count(1, inPropertyList: 0, at: position)
                try skip(to: "-->", from: position + 4, octets)
            } else if octets.has("<![CDATA[", at: position), !elements.isEmpty {
                try count(1, inPropertyList: 0, at: position)
                try skip(to: "]]>", from: position + 9, octets)
            } else if octets.has("<!DOCTYPE", at: position), !hasRoot, !hasDocumentType {
                try skipDocumentType(octets)
            } else {
                try openElement(octets)
            }
        }
        guard hasRoot, elements.isEmpty else { throw XMLRefusal("not a whole element", at: position) }
    }

    private mutating func skip(to end: String, from start: Int, _ octets: Span<UInt8>) throws(XMLRefusal) {
        var index = start
        while index < octets.count {
            if octets.has(end, at: index) {
                position = index + end.utf8.count
                return
            }
            index += 1
        }
        throw XMLRefusal("markup without an end", at: position)
    }

    private mutating func skipDocumentType(_ octets: Span<UInt8>) throws(XMLRefusal) {
        hasDocumentType = true
        var quote: UInt8?
        for index in position + 9..<octets.count {
            let octet = octets[index]
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil { quote = octet } else if quote == octet { quote = nil }
            case UInt8(ascii: "["), UInt8(ascii: "<"):
                throw XMLRefusal("a document type with declarations", at: position)
            case UInt8(ascii: ">"):
                guard quote == nil else { throw XMLRefusal("a malformed document type", at: position) }
                position = index + 1
                return
            default:
                break
            }
        }
        throw XMLRefusal("markup without an end", at: position)
    }

    private mutating func openElement(_ octets: Span<UInt8>) throws(XMLRefusal) {
        let start = position
        guard !elements.isEmpty || !hasRoot else { throw XMLRefusal("more than one root element", at: start) }
        guard elements.count < XMLStructure.maximumDepth else {
            throw XMLRefusal("more than \(XMLStructure.maximumDepth) levels of elements", at: start)
        }
        let name = octets.range(from: start + 1, while: \.isXMLNameOctet)
        guard !name.isEmpty else { throw XMLRefusal("a malformed tag", at: start) }
        hasRoot = true
        let isData = name.count == 4 && octets.has("data", at: name.lowerBound)
        try count(1, inPropertyList: isData ? 3 : 1, at: start)
        if isPropertyList, name.count == 3, octets.has("key", at: name.lowerBound) { try countKey(at: start) }
        var attributes = 0
        var declared = 0
        position = name.upperBound
        while true {
            let before = position
            position = octets.skippingXMLSpace(from: position)
            if octets.has(">", at: position) {
                position += 1
                elements.append((name, declared, 0))
                namespaces += declared
                return
            }
            if octets.has("/>", at: position) {
                position += 2
                return
            }
            guard position > before else { throw XMLRefusal("a malformed tag", at: start) }
            if octets.has("xmlns", at: position) { declared += 1 }
            attributes += 1
            try count(2, inPropertyList: 0, at: start)
            guard attributes <= XMLStructure.maximumAttributeCount,
                namespaces + declared <= XMLStructure.maximumNamespaceCount
            else {
                throw XMLRefusal("more attributes or namespaces than are allowed", at: start)
            }
            try skipAttribute(of: start, octets)
        }
    }

    private mutating func count(
        _ nodes: Int,
        inPropertyList values: Int,
        at offset: Int
    ) throws(XMLRefusal) {
        nodeCount += isPropertyList ? values : nodes
        guard nodeCount <= maximumNodeCount else {
            throw XMLRefusal("more than \(maximumNodeCount) values or nodes, too many for a tree", at: offset)
        }
    }

    /// Counts how often the keys of a dictionary may be compared with each other.
    private mutating func countKey(at start: Int) throws(XMLRefusal) {
        guard !elements.isEmpty else { return }
        keyPairs += elements[elements.count - 1].keys
        elements[elements.count - 1].keys += 1
        guard keyPairs <= BinaryPropertyList.maximumKeyPairCount else {
            throw XMLRefusal("a dictionary of too many keys", at: start)
        }
    }

    private mutating func skipAttribute(of tag: Int, _ octets: Span<UInt8>) throws(XMLRefusal) {
        let name = octets.range(from: position, while: \.isXMLNameOctet)
        let equals = octets.skippingXMLSpace(from: name.upperBound)
        let start = octets.skippingXMLSpace(from: equals + 1)
        guard !name.isEmpty, octets.has("=", at: equals),
            octets.has("\"", at: start) || octets.has("'", at: start)
        else { throw XMLRefusal("a malformed tag", at: tag) }
        let quote = octets[start]
        let isPropertyList = isPropertyList
        let value = octets.range(from: start + 1) { octet in
            guard octet != quote, octet != UInt8(ascii: "<") else { return false }
            return !isPropertyList || (octet != UInt8(ascii: ">") && octet != UInt8(ascii: "/"))
        }
        guard value.upperBound < octets.count, octets[value.upperBound] == quote else {
            throw XMLRefusal("a malformed tag", at: tag)
        }
        position = value.upperBound + 1
    }

    private mutating func closeElement(_ octets: Span<UInt8>) throws(XMLRefusal) {
        let start = position
        let name = octets.range(from: start + 2, while: \.isXMLNameOctet)
        let end = octets.skippingXMLSpace(from: name.upperBound)
        guard let element = elements.popLast(), element.name.count == name.count,
            zip(element.name, name).allSatisfy({ octets[$0] == octets[$1] }), octets.has(">", at: end)
        else { throw XMLRefusal("an end tag without its start tag", at: start) }
        namespaces -= element.namespaces
        position = end + 1
    }
}

// MARK: - Octets

extension UInt8 {
    /// [XML §2.3](https://www.w3.org/TR/xml/#NT-S).
    var isXMLSpace: Bool { self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D }

    /// Whether the octet does not end a name, in a well-formed document.
    fileprivate var isXMLNameOctet: Bool {
        switch self {
        case 0x00...0x20, UInt8(ascii: "/"), UInt8(ascii: ">"), UInt8(ascii: "="), UInt8(ascii: "<"),
            UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "!"), UInt8(ascii: "?"), UInt8(ascii: "&"):
            false
        default:
            true
        }
    }
}

extension Span<UInt8> {
    func skippingXMLSpace(from start: Int) -> Int {
        range(from: start, while: \.isXMLSpace).upperBound
    }
}
