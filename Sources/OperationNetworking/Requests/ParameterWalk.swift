internal import Foundation

/// Traverses a tree of parameters for queries and forms. Determines the names and the order of the leaves.
///
/// | In the tree  | Order         | Added to the name                          |
/// |--------------|---------------|--------------------------------------------|
/// | a dictionary | sorted by key | `[key]`; in the outermost dictionary `key` |
/// | an array     | its own       | depends on the ``QueryString/ArrayStyle``  |
/// | a set        | its own       | nothing                                    |
struct ParameterWalk<Writer: ParameterWriter> {
    private(set) var writer: Writer
    private let arrayStyle: QueryString.ArrayStyle

    /// Traverses the whole tree, whose outermost dictionary has these names and values.
    init(
        names: [String],
        values: [ParameterTree],
        arrayStyle: QueryString.ArrayStyle,
        to writer: consuming Writer
    ) {
        self.writer = writer
        self.arrayStyle = arrayStyle
        let start = self.writer.name
        for position in NameOrder.sortedPositions(of: names) {
            self.writer.extendName(by: names[position])
            write(values[position])
            self.writer.restoreName(start)
        }
    }

    private mutating func write(_ tree: ParameterTree) {
        switch tree {
        case .null:
            writer.writeNull()
        case .data(let data):
            writer.write(data: data)
        case .dictionary(let names, let values):
            let name = writer.name
            for position in NameOrder.sortedPositions(of: names) {
                writer.extendName(by: "[")
                writer.extendName(by: names[position])
                writer.extendName(by: "]")
                write(values[position])
                writer.restoreName(name)
            }
        case .array(let elements):
            write(array: elements)
        case .set(let elements):
            for element in elements { write(element) }
        case .text, .bool, .integer, .unsigned, .real, .decimal, .date, .encodable:
            if let text = tree.text { writer.write(text: text) }  // a form has no .encodable
        }
    }

    private mutating func write(array: [ParameterTree]) {
        if arrayStyle == .comma, let list = list(array) {
            if !list.isEmpty { writer.write(list: list) }
            return
        }
        let name = writer.name
        for (position, element) in array.enumerated() {
            switch arrayStyle {
            case .brackets, .comma: writer.extendName(by: "[]")
            case .indices: writer.extendName(by: "[\(position)]")
            case .repeated: break
            }
            write(element)
            writer.restoreName(name)
        }
    }

    /// The texts of the elements; `nil` if an element is a collection or is written as bytes.
    private func list(_ array: [ParameterTree]) -> [String]? {
        var texts: [String] = []
        texts.reserveCapacity(array.count)
        for element in array {
            switch element {
            case .null: texts.append("")
            case .data where Writer.keepsData: return nil
            default:
                guard let text = element.text else { return nil }
                texts.append(text)
            }
        }
        return texts
    }
}

/// Writes the leaves of a tree of parameters, in the order of ``QueryString``, each under the current name.
///
/// Called by ``ParameterWalk``. Both are values, so that a specialized traversal needs no closure or box per
/// value.
protocol ParameterWriter {
    /// A saved name, to be restored.
    associatedtype Name

    /// Whether bytes are written as they are, not as text.
    static var keepsData: Bool { get }

    var name: Name { get }

    /// Appends `text` to the current name.
    mutating func extendName(by text: String)

    /// Restores an earlier name, which is a prefix of the current one.
    mutating func restoreName(_ name: Name)

    // MARK: - Values, under the current name

    mutating func write(text: String)

    mutating func write(data: Data)

    /// Writes the texts of an array's elements, of which there is at least one, as one value.
    mutating func write(list: [String])

    mutating func writeNull()
}
