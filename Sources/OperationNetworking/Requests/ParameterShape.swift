internal import Foundation

/// The structure of a parameter, independent of its type: a dictionary, an array, a set, or a leaf.
enum ParameterShape {
    /// The texts of the keys, and the values, unordered.
    case dictionary(ParameterDictionary)
    /// Ordered.
    case array([Any])
    /// Unordered.
    case set([Any])
    /// An empty optional or an `NSNull`.
    case null
    /// Anything else, unwrapped.
    case leaf(Any)

    init(_ value: Any) {
        let type = type(of: value)
        if type == String.self || type == Int.self || type == Bool.self || type == Double.self {
            self = .leaf(value)  // the question that costs little, and that most values answer
        } else if let parts = value as? any ParameterParts {
            self = parts.parameterShape
        } else {
            self = value is NSNull ? .null : .leaf(value)
        }
    }
}

/// A dictionary with its keys as text.
struct ParameterDictionary {
    private(set) var names: [String] = []
    private(set) var values: [Any] = []
    /// Whether a key was not text.
    private(set) var hasOtherKeys = false
    /// The type of a key that has no text representation.
    private(set) var typeOfKeyWithoutText: String?

    init(capacity: Int) {
        names.reserveCapacity(capacity)
        values.reserveCapacity(capacity)
    }

    mutating func append(_ name: String, _ value: Any) {
        names.append(name)
        values.append(value)
    }

    mutating func append(key: Any, _ value: Any) {
        if let name = key as? String {
            append(name, value)
        } else {
            hasOtherKeys = true
            let base = (key as? AnyHashable)?.base ?? key
            let text = ParameterTree.text(ofKey: base)
            if text == nil { typeOfKeyWithoutText = "\(type(of: base))" }
            append(text ?? "", value)
        }
    }
}

/// A value that contains other values.
protocol ParameterParts {
    var parameterShape: ParameterShape { get }
}

extension Optional: ParameterParts {
    var parameterShape: ParameterShape { map { ParameterShape($0) } ?? .null }
}

extension Dictionary: ParameterParts {
    var parameterShape: ParameterShape {
        var dictionary = ParameterDictionary(capacity: count)
        for (key, value) in self { dictionary.append(key: key, value) }
        return .dictionary(dictionary)
    }
}

extension Array: ParameterParts {
    var parameterShape: ParameterShape { .array(map { $0 as Any }) }
}

extension ArraySlice: ParameterParts {
    var parameterShape: ParameterShape { .array(map { $0 as Any }) }
}

extension ContiguousArray: ParameterParts {
    var parameterShape: ParameterShape { .array(map { $0 as Any }) }
}

extension Set: ParameterParts {
    var parameterShape: ParameterShape { .set(map { $0 as Any }) }
}

// Foundation's collections are those of Swift. One that holds itself takes the whole stack.

extension NSDictionary: ParameterParts {
    var parameterShape: ParameterShape { (self as? [AnyHashable: Any] ?? [:]).parameterShape }
}

extension NSArray: ParameterParts {
    var parameterShape: ParameterShape { .array(self as? [Any] ?? []) }
}

extension NSSet: ParameterParts {
    var parameterShape: ParameterShape { .set(allObjects) }
}

extension AnyHashable: ParameterParts {
    var parameterShape: ParameterShape { ParameterShape(base) }
}
