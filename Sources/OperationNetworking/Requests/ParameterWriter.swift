/// The writer of a tree of parameters: gets each leaf, in the order of ``QueryString``, while it has the name
/// of it.
///
/// A ``ParameterWalk`` calls it; both are values, so that one specialized copy of the walk writes without a
/// closure or a box for each value.
protocol ParameterWriter {
    /// A leaf that is written as it is, not as its text; `Never`: there is none.
    associatedtype Whole
    /// The name at a moment, to go back to.
    associatedtype Name

    static func whole(_ leaf: Any) -> Whole?

    var name: Name { get }
    /// The name as it was given, for an error.
    var nameText: String { get }

    /// Adds `text` to the end of the name.
    mutating func extendName(by text: String)

    /// Goes back to an earlier name, of which the present one is an extension.
    mutating func restoreName(_ name: Name)

    // MARK: - Values, with the present name

    mutating func write(whole: Whole)

    mutating func write(text: String)

    /// The texts of an array's elements as one value, at least one of them.
    mutating func write(list: [String])

    mutating func writeNull()
}
