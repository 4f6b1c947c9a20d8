import Foundation

/// The parameters of a form, each with the name it has in a ``QueryString`` and with its value as it is: a
/// part may be bytes, which a query cannot hold.
struct FormLeaves {
    /// A part of the form.
    enum Value {
        case data(Data)
        case text(String)
    }

    private(set) var leaves: [(name: String, value: Value)] = []
    private let arrayStyle: QueryString.ArrayStyle
    private var depth = 0

    /// The parts, in the order of ``QueryString``.
    ///
    /// - Throws: ``RequestSerializationError/parametersTooDeep(limit:)``, and what an `Encodable` value
    ///   throws.
    init(_ parameters: [String: any Sendable], arrayStyle: QueryString.ArrayStyle) throws {
        self.arrayStyle = arrayStyle
        try append(ParameterDictionary(parameters), under: nil)
    }

    private mutating func append(_ value: Any, named name: String) throws {
        if let data = value as? Data { return leaves.append((name, .data(data))) }
        switch ParameterShape(value) {
        case .leaf(let leaf):
            // An optional may have been around it.
            if let data = leaf as? Data { return leaves.append((name, .data(data))) }
            if let text = ParameterScalar.leafText(of: leaf) { return leaves.append((name, .text(text))) }
            guard let encodable = leaf as? any Encodable else { return }
            try deeper { try $0.append(ParameterEncoder.tree(of: encodable), named: name) }
        case .null:
            leaves.append((name, .text("")))
        case .dictionary(let dictionary):
            try append(dictionary, under: name)
        case .array(let array):
            try append(array, named: name)
        case .set(let set):
            let texts = set.map { ParameterScalar.text(of: $0) }
            try deeper { leaves in
                for position in NameOrder.sortedPositions(of: texts) {
                    try leaves.append(set[position], named: name)
                }
            }
        }
    }

    private mutating func append(_ dictionary: ParameterDictionary, under name: String?) throws {
        try deeper { leaves in
            for position in NameOrder.sortedPositions(of: dictionary.names) {
                let key = dictionary.names[position]
                try leaves.append(dictionary.values[position], named: name.map { "\($0)[\(key)]" } ?? key)
            }
        }
    }

    private mutating func append(_ array: [Any], named name: String) throws {
        if arrayStyle == .comma, let list = list(array) { return leaves.append((name, .text(list))) }
        try deeper { leaves in
            for (position, element) in array.enumerated() {
                let suffix =
                    switch leaves.arrayStyle {
                    case .brackets, .comma: "[]"
                    case .indices: "[\(position)]"
                    case .repeated: ""
                    }
                try leaves.append(element, named: name + suffix)
            }
        }
    }

    /// The elements as one text; `nil` when one of them has elements of its own, or is bytes.
    private func list(_ array: [Any]) -> String? {
        var texts: [String] = []
        for element in array {
            switch ParameterShape(element) {
            case .leaf(let leaf):
                guard !(leaf is Data), let text = ParameterScalar.leafText(of: leaf) else { return nil }
                texts.append(text)
            case .null: texts.append("")
            case .dictionary, .array, .set: return nil
            }
        }
        return texts.isEmpty ? nil : texts.joined(separator: ",")
    }

    private mutating func deeper(_ body: (inout FormLeaves) throws -> Void) throws {
        guard depth < ParameterShape.depthLimit else {
            throw RequestSerializationError.parametersTooDeep(limit: ParameterShape.depthLimit)
        }
        depth += 1
        try body(&self)
        depth -= 1
    }
}
