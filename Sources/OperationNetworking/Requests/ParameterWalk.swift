internal import Foundation

/// A walk over a tree of parameters for queries and forms: the names of its leaves, and their order.
///
/// | In the tree  | Order                | Added to the name                                     |
/// |--------------|----------------------|-------------------------------------------------------|
/// | a dictionary | of the keys          | `[key]`; the outermost dictionary: `key`              |
/// | an array     | its own              | what the ``QueryString/ArrayStyle`` says              |
/// | a set        | its own              | nothing                                               |
struct ParameterWalk<Writer: ParameterWriter> {
    private(set) var writer: Writer
    private let arrayStyle: QueryString.ArrayStyle

    /// Walks the whole tree, whose outermost dictionary has these parts.
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

    /// The texts of the elements; `nil` when one of them has elements of its own, or is written as bytes.
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

/// The writer of a tree of parameters: gets each leaf, in the order of ``QueryString``, while it has the name
/// of it.
///
/// A ``ParameterWalk`` calls it; both are values, so that one specialized copy of the walk writes without a
/// closure or a box for each value.
protocol ParameterWriter {
    /// The name at a moment, to go back to.
    associatedtype Name

    /// Whether it writes bytes as they are, not as text.
    static var keepsData: Bool { get }

    var name: Name { get }

    /// Adds `text` to the end of the name.
    mutating func extendName(by text: String)

    /// Goes back to an earlier name, of which the present one is an extension.
    mutating func restoreName(_ name: Name)

    // MARK: - Values, with the present name

    mutating func write(text: String)

    mutating func write(data: Data)

    /// The texts of an array's elements as one value, at least one of them.
    mutating func write(list: [String])

    mutating func writeNull()
}
