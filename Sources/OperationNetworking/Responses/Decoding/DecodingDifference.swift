internal import Foundation

/// The difference between a body and the structure that a `Decodable` type wants, with its place:
/// `users[3].name: expected String, found null`.
///
/// Keys may come from the body, and values are quoted by some types: so both are cut off, and written in
/// printable characters.
struct DecodingDifference: Hashable, CustomStringConvertible {
    /// One sentence of at most a few hundred characters.
    let description: String

    init(_ error: DecodingError) {
        switch error {
        case .typeMismatch(let type, let context):
            let found = DecodingDifference.found(in: context.debugDescription)
            self.init(context.codingPath, "expected \(DecodingDifference.name(of: type)), found \(found)")
        case .valueNotFound(let type, let context):
            let isAtEnd = context.debugDescription.contains("at end")
            self.init(
                context.codingPath,
                "expected \(DecodingDifference.name(of: type)), found \(isAtEnd ? "the end of the array" : "null")"
            )
        case .keyNotFound(let key, let context):
            self.init(context.codingPath + [key], "expected a value, found nothing")
        case .dataCorrupted(let context):
            // Foundation says this of a number, too, that its type cannot hold.
            let isNotJSON = context.debugDescription == "The given data was not valid JSON."
            let sentence = isNotJSON ? "a value does not fit into its type" : context.debugDescription
            self.init(context.codingPath, DecodingDifference.printable(sentence, limit: 200))
        @unknown default:
            self.init([], DecodingDifference.printable("\(error)", limit: 200))
        }
    }

    private init(_ path: [any CodingKey], _ difference: String) {
        let path = DecodingDifference.text(of: path)
        description = path.isEmpty ? difference : "\(path): \(difference)"
    }

    // MARK: - Private

    /// The innermost 16 keys.
    private static func text(of path: [any CodingKey]) -> String {
        var text = path.count > 16 ? "…" : ""
        for key in path.suffix(16) {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + printable(key.stringValue, limit: 64)
            }
        }
        return text
    }

    private static func name(of type: Any.Type) -> String {
        if type == [String: Any].self { return "an object" }
        if type == [Any].self { return "an array" }
        return String(describing: type)
    }

    /// The kind of value that Foundation found, from its sentence: "Expected to decode String but found
    /// number instead."
    private static func found(in sentence: String) -> String {
        guard let start = sentence.range(of: "but found "),
            let end = sentence.range(of: " instead", options: .backwards),
            start.upperBound < end.lowerBound
        else { return printable(sentence, limit: 200) }
        return switch sentence[start.upperBound..<end.lowerBound] {
        case "number", "a number": "a number"
        case "bool", "a boolean": "a boolean"
        case "null", "null value": "null"
        case "a dictionary": "an object"
        case let found: printable(String(found), limit: 64)
        }
    }

    private static func printable(_ text: String, limit: Int) -> String {
        var printable = ""
        for scalar in text.excerpt(limit).unicodeScalars {
            printable += scalar.changesLayout ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return printable
    }
}
