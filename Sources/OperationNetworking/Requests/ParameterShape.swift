internal import Foundation

/// The structure of a parameter, independent of its type: a dictionary, an array, a set, or a leaf.
enum ParameterShape {
    /// The texts of the keys and the values, in no order.
    case dictionary(ParameterDictionary)
    /// In its order.
    case array([Any])
    /// In no order.
    case set([Any])
    /// An empty optional or an `NSNull`.
    case null
    /// Anything else, out of its optionals.
    case leaf(Any)

    init(_ value: Any) {
        if ParameterScalar.isKnown(type(of: value)) {
            self = .leaf(value)  // the question that costs little, and that most values answer
        } else if let shape = ParameterShape(common: value) {
            self = shape
        } else if let parts = value as? any ParameterParts {
            self = parts.parameterShape
        } else {
            self = value is NSNull ? .null : .leaf(value)
        }
    }

    /// The types that most collections have, for the same reason.
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

    /// The deepest tree allowed, in levels; the outermost dictionary or array is the first. Foundation's own
    /// JSON parser reads no more, and each level takes its piece of the stack.
    static let depthLimit = 512
}

/// A dictionary with its keys as text.
struct ParameterDictionary {
    private(set) var names: [String] = []
    private(set) var values: [Any] = []
    /// Whether a key was something else than text.
    private(set) var hasOtherKeys = false
    /// The type of a key that has no text.
    private(set) var typeOfKeyWithoutText: String?

    init(capacity: Int) {
        names.reserveCapacity(capacity)
        values.reserveCapacity(capacity)
    }

    init(_ dictionary: [String: Any]) {
        names = Array(dictionary.keys)
        values = Array(dictionary.values)
    }

    @inline(__always)  // so that there is one for each type it is called with, which costs half
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
            let text = ParameterScalar.keyText(of: base)
            if text == nil { typeOfKeyWithoutText = "\(type(of: base))" }
            append(text ?? "", value)
        }
    }
}

/// A value that holds others.
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

// Foundation's collections are read through their mirrors, which show the objects as they are. Every other
// way bridges an object first, with all that is inside of it: one that holds itself takes the whole stack. A
// subclass may keep its elements elsewhere and is asked for each of them.

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

/// The types of the standard library that hold one value, told apart by identity: a cast costs many times
/// that.
enum ParameterScalar {
    static func isKnown(_ type: Any.Type) -> Bool {
        type == String.self || type == Int.self || type == Bool.self || type == Double.self
            || isOtherNumber(type)
    }

    private static func isOtherNumber(_ type: Any.Type) -> Bool {
        type == Int64.self || type == UInt64.self || type == Int32.self || type == UInt32.self
            || type == Int16.self || type == UInt16.self || type == Int8.self || type == UInt8.self
            || type == UInt.self || type == Float.self
    }

    /// The text of a value without parts.
    ///
    /// | Value                                                       | Text                                 |
    /// |-------------------------------------------------------------|--------------------------------------|
    /// | text, numbers, dates, data, URLs                            | as ``text(of:)``                     |
    /// | another type with a description of its own                  | the description, as in AFNetworking  |
    /// | `Encodable`                                                 | none: it says what its parts are     |
    /// | `RawRepresentable`                                          | that of its raw value                |
    /// | a collection other than text and data                       | none                                 |
    /// | an object whose description is its address; any other value | none: the description says nothing   |
    ///
    /// - Returns: `nil` for none.
    static func leafText(of leaf: Any) -> String? {
        if isKnown(type(of: leaf)) || hasDescription(leaf) { return text(of: leaf) }
        guard !(leaf is any Encodable), let named = leaf as? any RawRepresentable else { return nil }
        return leafText(of: named.rawValue)
    }

    /// The text of a key: as ``leafText(of:)``, and that of its raw value also when it is `Encodable`, since
    /// a key has no parts.
    fileprivate static func keyText(of key: Any) -> String? {
        leafText(of: key) ?? (key as? any RawRepresentable).flatMap { keyText(of: $0.rawValue) }
    }

    /// Whether the description of a value means something to a server.
    private static func hasDescription(_ leaf: Any) -> Bool {
        guard leaf is any CustomStringConvertible else { return false }
        // The description of a date that no calendar reaches traps.
        if type(of: leaf) is NSObject.Type, !(leaf is NSDate), let object = leaf as? NSObject {
            // Every object has a description: unless its class writes another one, `<Class: 0x00007f...>`.
            let address = String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
            return !object.description.contains(address)
        }
        return leaf is any StringProtocol || leaf is Data || !(leaf is any Collection)
    }

    /// The value's text: as `description` in AFNetworking, where every number is an `NSNumber`; bytes in
    /// Base64, since their description has not one of them.
    static func text(of value: Any) -> String {
        let type = type(of: value)
        if type == String.self, let text = value as? String { return text }
        if type == Int.self, let number = value as? Int { return String(number) }
        if type is NSNumber.Type, let number = value as? NSNumber, let text = ownText(of: number) {
            return text
        }
        return switch value {
        case let text as String: text
        case let flag as Bool: flag ? "1" : "0"
        case let number as Int64: String(number)  // before Double: an NSNumber is any of the three that fits
        case let number as UInt64: String(number)
        case let number as Double: whole(number) ?? String(number)
        case let number as Float: whole(Double(number)) ?? String(number)
        case let date as Date where !date.isInCalendar: String(date.timeIntervalSince1970)
        case let data as Data: data.base64EncodedString()
        case let data as NSData: data.base64EncodedString(options: [])
        default: String(describing: value)
        }
    }

    /// The text of a number that loses digits, or shows too many, as a `Double`; `nil` for all others.
    private static func ownText(of number: NSNumber) -> String? {
        if let decimal = number as? NSDecimalNumber { return decimal.description }
        // Unsafe for its pointer to the letter of the C type.
        let isFloat = unsafe number.objCType.pointee == CChar(UInt8(ascii: "f"))
        return isFloat ? text(of: number.floatValue) : nil
    }

    /// A number without a fraction as an integer, as long as a `Double` counts in ones.
    private static func whole(_ number: Double) -> String? {
        guard number.magnitude <= 0x1p53, let integer = Int64(exactly: number) else { return nil }
        return String(integer)
    }
}

extension Date {
    /// Whether the date is within some 3,000 years of 1970. Foundation's description of a date that no
    /// calendar reaches, or that is no number, traps.
    var isInCalendar: Bool { timeIntervalSince1970.magnitude < 1e11 }
}
