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
    /// The name of what is being written.
    private(set) var name = ""

    private init() {}

    /// The parts, in the order of ``QueryString``.
    ///
    /// - Throws: as ``ParameterWalk/init(_:arrayStyle:to:)``.
    init(_ parameters: [String: Any], arrayStyle: QueryString.ArrayStyle) throws {
        let dictionary = ParameterDictionary(parameters)
        self = try ParameterWalk(dictionary, arrayStyle: arrayStyle, to: FormLeaves()).writer
    }
}

// MARK: - ParameterWriter

extension FormLeaves: ParameterWriter {
    static func whole(_ leaf: Any) -> Data? { leaf as? Data }

    var nameText: String { name }

    mutating func extendName(by text: String) {
        name += text
    }

    mutating func restoreName(_ name: String) {
        self.name = name
    }

    mutating func write(whole: Data) {
        leaves.append((name, .data(whole)))
    }

    mutating func write(text: String) {
        leaves.append((name, .text(text)))
    }

    mutating func write(list: [String]) {
        write(text: list.joined(separator: ","))
    }

    mutating func writeNull() {
        write(text: "")
    }
}
