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
            self = .leaf(value)  // a cheap check that covers most values
        } else if let shape = ParameterShape(common: value) {
            self = shape
        } else if let parts = value as? any ParameterParts {
            self = parts.parameterShape
        } else {
            self = value is NSNull ? .null : .leaf(value)
        }
    }

    /// The types of most collections, for the same reason.
    private init?(common value: Any) {
        let type = type(of: value)
        if type == [String: Any].self, let dictionary = value as? [String: Any] {
            self = .dictionary(ParameterDictionary(dictionary))
        } else if type == [Any].self, let array = value as? [Any] {
            self = .array(array)
        } else if type == [String: String].self, let dictionary = value as? [String: String] {
            self = .dictionary(ParameterDictionary(typed: dictionary))
        } else if type == [String: Int].self, let dictionary = value as? [String: Int] {
            self = .dictionary(ParameterDictionary(typed: dictionary))
        } else if type == [String].self, let array = value as? [String] {
            self = .array(array)
        } else if type == [Int].self, let array = value as? [Int] {
            self = .array(array)
        } else {
            return nil
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

    init(_ dictionary: [String: Any]) {
        names = Array(dictionary.keys)
        values = Array(dictionary.values)
    }

    @inline(__always)  // specialized for each type, which halves the cost
    init(typed dictionary: [String: some Any]) {
        names = Array(dictionary.keys)
        values = dictionary.values.map { $0 as Any }
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

// Foundation's collections are read through their mirrors, which show the objects themselves. Any other
// access bridges an object recursively, and a collection that contains itself would overflow the stack. A
// subclass may store its elements elsewhere, so each element is requested from it.

extension NSDictionary: ParameterParts {
    var parameterShape: ParameterShape {
        var dictionary = ParameterDictionary(capacity: count)
        let children = Mirror(reflecting: self).children
        if children.count == count {
            for child in children {
                guard let (key, value) = child.value as? (key: NSObject, value: AnyObject) else { continue }
                dictionary.append(key: key, value)
            }
        } else {
            for key in allKeys {
                if let value = object(forKey: key) { dictionary.append(key: key, value) }
            }
        }
        return .dictionary(dictionary)
    }
}

extension NSArray: ParameterParts {
    var parameterShape: ParameterShape {
        let children = Mirror(reflecting: self).children
        return .array(children.count == count ? children.map(\.value) : (0..<count).map { object(at: $0) })
    }
}

extension NSSet: ParameterParts {
    var parameterShape: ParameterShape {
        let children = Mirror(reflecting: self).children
        return .set(children.count == count ? children.map(\.value) : allObjects)
    }
}

extension AnyHashable: ParameterParts {
    var parameterShape: ParameterShape { ParameterShape(base) }
}
