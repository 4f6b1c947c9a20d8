import Foundation

/// A tree of parameters that is made from a seed, so the same in every run.
indirect enum PlainValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case array([PlainValue])
    case dictionary([String: PlainValue])

    /// The kinds of values.
    struct Kinds {
        var hasNulls = true
        /// Controls but tab and line feed, and what is no character.
        var hasControls = true
    }

    /// As a caller would write it.
    var parameter: any Sendable {
        switch self {
        case .null: NSNull()
        case .bool(let value): value
        case .integer(let value): value
        case .number(let value): value
        case .text(let value): value
        case .array(let values): values.map(\.parameter)
        case .dictionary(let values): values.mapValues(\.parameter)
        }
    }

    /// A dictionary with up to five entries and four levels.
    static func dictionary(_ kinds: Kinds, using generator: inout SeededGenerator) -> [String: PlainValue] {
        var values: [String: PlainValue] = [:]
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            let name = text(kinds, using: &generator)
            values[name] = value(kinds, levels: 3, using: &generator)
        }
        return values
    }

    private static func value(_ kinds: Kinds, levels: Int, using generator: inout SeededGenerator)
        -> PlainValue
    {
        switch Int.random(in: 0..<(levels > 0 ? 8 : 6), using: &generator) {
        case 0: return kinds.hasNulls ? .null : .bool(true)
        case 1: return .bool(Bool.random(using: &generator))
        case 2:
            return .integer(
                Int(truncatingIfNeeded: generator.next()) >> Int.random(in: 0..<64, using: &generator)
            )
        case 3: return .number(Double(Int.random(in: -9999...9999, using: &generator)) / 64)
        case 4, 5: return .text(text(kinds, using: &generator))
        case 6:
            let count = Int.random(in: 0...4, using: &generator)
            return .array((0..<count).map { _ in value(kinds, levels: levels - 1, using: &generator) })
        default:
            let count = Int.random(in: 0...4, using: &generator)
            var values: [String: PlainValue] = [:]
            for _ in 0..<count {
                values[text(kinds, using: &generator)] = value(kinds, levels: levels - 1, using: &generator)
            }
            return .dictionary(values)
        }
    }

    private static let alphabet = Array(
        "abcxyzABC019-._~/? +&=%[],;:'\"\\<>é\u{301}ß日\u{FF21}\u{E000}😀🇩🇪👩‍👧\t\n".unicodeScalars
    )
    private static let controls = Array("\0\r\u{1}\u{1B}\u{7F}\u{85}\u{2028}\u{FFFE}\u{FFFF}".unicodeScalars)

    private static func text(_ kinds: Kinds, using generator: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...8, using: &generator) {
            let isControl = kinds.hasControls && Int.random(in: 0..<10, using: &generator) == 0
            if let scalar = (isControl ? controls : alphabet).randomElement(using: &generator) {
                text.append(scalar)
            }
        }
        return String(text)
    }

    /// Whether an object that Foundation read is this value, to the octet for text.
    func isEqual(to object: Any) -> Bool {
        switch self {
        case .null: return object is NSNull
        case .bool(let value): return object as? Bool == value
        case .integer(let value): return object as? Int == value
        case .number(let value): return object as? Double == value
        case .text(let value): return (object as? String).map { $0.utf8.elementsEqual(value.utf8) } ?? false
        case .array(let values):
            guard let objects = object as? [Any], objects.count == values.count else { return false }
            return zip(values, objects).allSatisfy { $0.isEqual(to: $1) }
        case .dictionary(let values):
            guard let objects = object as? [String: Any], objects.count == values.count else { return false }
            return values.allSatisfy { name, value in objects[name].map { value.isEqual(to: $0) } ?? false }
        }
    }
}
