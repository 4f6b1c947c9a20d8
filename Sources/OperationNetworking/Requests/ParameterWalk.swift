/// A walk over a tree of parameters: the names of its leaves, and their order.
///
/// | In the tree  | Order                | Added to the name                                     |
/// |--------------|----------------------|-------------------------------------------------------|
/// | a dictionary | of the keys' texts   | `[key]`; the outermost dictionary: `key`              |
/// | an array     | its own              | what the ``QueryString/ArrayStyle`` says              |
/// | a set        | of the values' texts | nothing                                               |
/// | `Encodable`  | as what it encodes   | as what it encodes                                    |
///
/// A leaf is written as its ``ParameterScalar/leafText(of:)``; one without a text is an error.
struct ParameterWalk<Writer: ParameterWriter> {
    private(set) var writer: Writer
    private let arrayStyle: QueryString.ArrayStyle
    private let encodesLeaves: Bool
    private var depth = 0

    /// Walks the whole tree. With `encodesLeaves` what they encode is written, if they are `Encodable`, and
    /// not their own texts.
    ///
    /// - Throws: ``RequestSerializationError/parametersTooDeep(limit:)``,
    ///   ``RequestSerializationError/invalidParameter(at:found:)``, and what an `Encodable` value throws.
    init(
        _ dictionary: ParameterDictionary,
        arrayStyle: QueryString.ArrayStyle,
        encodesLeaves: Bool = false,
        to writer: consuming Writer
    ) throws {
        self.writer = writer
        self.arrayStyle = arrayStyle
        self.encodesLeaves = encodesLeaves
        try write(dictionary: dictionary)
    }

    private mutating func write(_ value: Any) throws {
        if !encodesLeaves, ParameterScalar.isKnown(type(of: value)) {
            return writer.write(text: ParameterScalar.text(of: value))
        }
        switch ParameterShape(value) {
        case .leaf(let leaf):
            try write(leaf: leaf)
        case .null:
            writer.writeNull()
        case .dictionary(let dictionary):
            try write(dictionary: dictionary)
        case .array(let array):
            try write(array: array)
        case .set(let set):
            try deeper { walk in
                let texts = set.map { ParameterScalar.text(of: $0) }
                for position in NameOrder.sortedPositions(of: texts) { try walk.write(set[position]) }
            }
        }
    }

    private mutating func write(dictionary: ParameterDictionary) throws {
        if let type = dictionary.typeOfKeyWithoutText { throw invalid("a key of type \(type)") }
        let isOutermost = depth == 0
        try deeper { walk in
            let name = walk.writer.name
            for position in NameOrder.sortedPositions(of: dictionary.names) {
                if !isOutermost { walk.writer.extendName(by: "[") }
                walk.writer.extendName(by: dictionary.names[position])
                if !isOutermost { walk.writer.extendName(by: "]") }
                try walk.write(dictionary.values[position])
                walk.writer.restoreName(name)
            }
        }
    }

    private mutating func write(array: [Any]) throws {
        if arrayStyle == .comma, let list = try list(array) {
            if !list.isEmpty { writer.write(list: list) }
            return
        }
        try deeper { walk in
            let name = walk.writer.name
            for (position, element) in array.enumerated() {
                switch walk.arrayStyle {
                case .brackets, .comma: walk.writer.extendName(by: "[]")
                case .indices: walk.writer.extendName(by: "[\(position)]")
                case .repeated: break
                }
                try walk.write(element)
                walk.writer.restoreName(name)
            }
        }
    }

    /// The texts of the elements; `nil` when one of them has elements of its own, or is written as it is.
    private func list(_ array: [Any]) throws -> [String]? {
        var texts: [String] = []
        texts.reserveCapacity(array.count)
        for element in array {
            switch ParameterShape(element) {
            case .leaf(let leaf):
                guard Writer.whole(leaf) == nil, let text = try listText(of: leaf) else { return nil }
                texts.append(text)
            case .null: texts.append("")
            case .dictionary, .array, .set: return nil
            }
        }
        return texts
    }

    /// The text of an element; `nil` when it encodes elements of its own, or has no text at all.
    private func listText(of leaf: Any) throws -> String? {
        if !encodesLeaves, let text = ParameterScalar.leafText(of: leaf) { return text }
        guard let encodable = leaf as? any Encodable else { return ParameterScalar.leafText(of: leaf) }
        return switch try ParameterEncoder.tree(of: encodable).parameterShape {
        case .leaf(let encoded): ParameterScalar.leafText(of: encoded)
        case .null: ""
        case .dictionary, .array, .set: nil
        }
    }

    private mutating func write(leaf: Any) throws {
        if let whole = Writer.whole(leaf) {
            writer.write(whole: whole)
        } else if encodesLeaves, let encodable = leaf as? any Encodable {
            try write(encoded: ParameterEncoder.tree(of: encodable))
        } else if let text = ParameterScalar.leafText(of: leaf) {
            writer.write(text: text)
        } else if let encodable = leaf as? any Encodable {
            try deeper { walk in try walk.write(ParameterEncoder.tree(of: encodable)) }
        } else {
            throw invalid("a value of type \(type(of: leaf))")
        }
    }

    private mutating func write(encoded: EncodedParameter) throws {
        // The leaves of the tree are texts and numbers, which would encode themselves again.
        if case .leaf(let leaf) = encoded.parameterShape, let text = ParameterScalar.leafText(of: leaf) {
            writer.write(text: text)
        } else {
            try deeper { walk in try walk.write(encoded) }
        }
    }

    private func invalid(_ found: String) -> RequestSerializationError {
        .invalidParameter(at: writer.nameText, found: found)
    }

    private mutating func deeper(_ body: (inout ParameterWalk) throws -> Void) throws {
        guard depth < ParameterShape.depthLimit else {
            throw RequestSerializationError.parametersTooDeep(limit: ParameterShape.depthLimit)
        }
        depth += 1
        try body(&self)
        depth -= 1
    }
}
