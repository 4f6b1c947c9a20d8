internal import Foundation

/// Parameters in the common form that all serializers write.
///
/// | Value                                                     | Becomes                                 |
/// |-----------------------------------------------------------|-----------------------------------------|
/// | a dictionary                                              | a dictionary with the texts of its keys |
/// | an array                                                  | an array                                |
/// | a set                                                     | a set, sorted by its elements' texts    |
/// | an empty optional, `NSNull`                               | a null                                  |
/// | `String`, `Substring`, `Character`                        | text                                    |
/// | `URL`                                                     | its absolute string                     |
/// | `Bool`                                                    | a Boolean                               |
/// | a number of any type, also `CGFloat` and `Decimal`        | a number                                |
/// | `Date`, `Data`                                            | depends on the format                   |
/// | any other `Encodable`                                     | its encoded value                       |
/// | any other `RawRepresentable`                              | its raw value                           |
/// | any other value with a custom description                 | the description, as in AFNetworking     |
/// | anything else, such as an object described by its address | an error                                |
enum ParameterTree {
    case null
    case text(String)
    case bool(Bool)
    case integer(Int64)
    /// Larger than any ``integer(_:)``.
    case unsigned(UInt64)
    case real(Double)
    case decimal(Decimal)
    case date(Date)
    case data(Data)
    /// A value that only the format's encoder can write.
    case encodable(any Encodable)
    /// Unordered.
    case dictionary(names: [String], values: [ParameterTree])
    case array([ParameterTree])
    case set([ParameterTree])

    /// The maximum depth in levels; the outermost dictionary or array is the first. The limit of Foundation's
    /// JSON parser; each level uses stack.
    static let depthLimit = 512

    /// Creates a tree from parameters of any type.
    ///
    /// - Throws: ``RequestSerializationError`` for a value that the format cannot represent, with its path
    ///   and type, and any error of an `Encodable` value.
    init(_ parameters: Any, for format: ParameterFormat) throws {
        do {
            self = try format.tree(of: parameters, depth: 0)
        } catch let problem as ParameterProblem {
            throw format.error(problem)
        }
    }

    /// Creates a leaf from a scalar of a known type; `nil` for any other value.
    init?(scalar value: Any) {
        let type = type(of: value)
        // Types are compared first: a cast is many times slower.
        if type == String.self, let text = value as? String {
            self = .text(text)
        } else if type == Int.self, let number = value as? Int {
            self = .integer(Int64(number))
        } else if type == Bool.self, let flag = value as? Bool {
            self = .bool(flag)
        } else if type == Double.self, let number = value as? Double {
            self = .real(number)
        } else if type is NSNumber.Type, let number = value as? NSNumber {
            self.init(number)
        } else {
            switch value {
            case let text as String: self = .text(text)
            case let text as any StringProtocol: self = .text(String(text))
            case let character as Character: self = .text(String(character))
            case let number as any BinaryInteger: self.init(number)
            // By its description: a Float has fewer digits than the same Double.
            case let number as any BinaryFloatingPoint: self = .real(Double("\(number)") ?? .nan)
            case let number as Decimal: self = .decimal(number)
            case let date as Date: self = .date(date)
            case let data as Data: self = .data(data)
            case let url as URL: self = .text(url.absoluteString)
            default: return nil
            }
        }
    }

    private init(_ number: some BinaryInteger) {
        if let integer = Int64(exactly: number) {
            self = .integer(integer)
        } else if let integer = UInt64(exactly: number) {
            self = .unsigned(integer)
        } else {
            self = .decimal(Decimal(string: "\(number)") ?? .nan)
        }
    }

    /// Uses the type that the number was created with; a cast succeeds for any type that fits.
    private init(_ number: NSNumber) {
        guard !(number is NSDecimalNumber) else {
            self = .decimal(number.decimalValue)
            return
        }
        // Checked by class: the type code of Bool is also that of Int8.
        guard type(of: number) != type(of: NSNumber(value: true)) else {
            self = .bool(number.boolValue)
            return
        }
        // Unsafe: a pointer to the type code.
        switch UInt8(bitPattern: unsafe number.objCType.pointee) {
        case UInt8(ascii: "d"): self = .real(number.doubleValue)
        case UInt8(ascii: "f"): self = .real(Double("\(number.floatValue)") ?? .nan)
        case UInt8(ascii: "Q"): self.init(number.uint64Value)
        default: self = .integer(number.int64Value)
        }
    }

    // MARK: - Texts

    /// The text of a scalar in a query or form: AFNetworking's `description`, where every number is an
    /// `NSNumber`, and Base64 for bytes, whose description does not contain them. `nil` for a null, a
    /// collection, and a value that only the encoder can write.
    var text: String? {
        switch self {
        case .text(let text): text
        case .bool(let flag): flag ? "1" : "0"
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .real(let number): Self.whole(number) ?? String(number)
        case .decimal(let number): number.description
        case .date(let date): date.isInCalendar ? date.description : String(date.timeIntervalSince1970)
        case .data(let data): data.base64EncodedString()
        case .null, .encodable, .dictionary, .array, .set: nil
        }
    }

    /// The text of a key. A raw value takes precedence over `Encodable`.
    static func text(ofKey key: Any) -> String? {
        ParameterTree(scalar: key)?.text
            ?? (key as? any RawRepresentable).flatMap { text(ofKey: $0.rawValue) } ?? description(of: key)
    }

    /// The description of a value, if it is meaningful to a server.
    static func description(of value: Any) -> String? {
        guard value is any CustomStringConvertible, !(value is any Collection) else { return nil }
        let text = String(describing: value)
        guard type(of: value) is NSObject.Type, let object = value as? NSObject else { return text }
        // The default description of an object is `<Class: 0x00007f...>`.
        let address = String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
        return text.contains(address) ? nil : text
    }

    /// A whole number as an integer, within the range where `Double` represents every integer.
    private static func whole(_ number: Double) -> String? {
        guard number.magnitude <= 0x1p53, let integer = Int64(exactly: number) else { return nil }
        return String(integer)
    }
}

// MARK: - For Foundation's encoders

extension ParameterTree {
    /// The tree for `JSONSerialization` and `PropertyListSerialization`; `nil` if it contains a value that
    /// only the format's encoder can write.
    var foundationObject: Any? {
        switch self {
        case .null: return NSNull()
        case .text(let text): return text
        case .bool(let flag): return flag
        case .integer(let number): return number
        case .unsigned(let number): return number
        case .real(let number): return number
        case .decimal(let number): return NSDecimalNumber(decimal: number)
        case .date(let date): return date
        case .data(let data): return data
        case .encodable: return nil
        case .dictionary(let names, let values):
            var object: [String: Any] = [:]
            object.reserveCapacity(names.count)
            for (name, value) in zip(names, values) {
                guard let part = value.foundationObject else { return nil }
                object[name] = part
            }
            return object
        case .array(let elements), .set(let elements):
            var object: [Any] = []
            object.reserveCapacity(elements.count)
            for element in elements {
                guard let part = element.foundationObject else { return nil }
                object.append(part)
            }
            return object
        }
    }
}

extension ParameterTree: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .text(let text): try container.encode(text)
        case .bool(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .unsigned(let number): try container.encode(number)
        case .real(let number): try container.encode(number)
        case .decimal(let number): try container.encode(number)
        case .date(let date): try container.encode(date)
        case .data(let data): try container.encode(data)
        case .encodable(let value): try container.encode(value)
        // As a dictionary, whose keys the encoder's key strategy does not change.
        case .dictionary(let names, let values):
            try container.encode(Dictionary(zip(names, values)) { first, _ in first })
        case .array(let elements), .set(let elements): try container.encode(elements)
        }
    }
}

extension Date {
    /// Whether the date is within about 3,000 years of 1970. Foundation traps when it describes a date beyond
    /// its calendar, or NaN.
    fileprivate var isInCalendar: Bool { timeIntervalSince1970.magnitude < 1e11 }
}

// MARK: - Formats

/// A value that a format cannot represent.
struct ParameterProblem: Error {
    /// The path of names and positions to the value, starting with the outermost.
    private(set) var path: [ParameterKey] = []
    /// The value, such as `a value of type Plain`.
    let found: String

    init(_ found: String) {
        self.found = found
    }

    /// Runs `body` for a part, and adds the part to the path of its errors.
    static func inside<Result>(
        _ part: @autoclosure () -> ParameterKey,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch var problem as ParameterProblem {
            problem.path.insert(part(), at: 0)
            throw problem
        } catch EncodingError.invalidValue(let value, let context) {
            let context = EncodingError.Context(
                codingPath: [part()] + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError
            )
            throw EncodingError.invalidValue(value, context)
        }
    }
}

/// The format in which parameters are written.
///
/// | Value                      | Query, form               | JSON                       | Property list   |
/// |----------------------------|---------------------------|----------------------------|-----------------|
/// | a null                     | a name without a value    | `null`                     | an error        |
/// | a number that is not finite | text; encoded: an error   | an error, or the encoder's | the number      |
/// | `Date`                     | its description; encoded: ISO 8601 | the encoder's              | a date          |
/// | `Data`                     | Base64, or a part of a form | the encoder's              | data            |
/// | `Encodable`                | by a ``ParameterEncoder`` | by the encoder             | by its encoder  |
/// | text with controls, U+FFFE | escaped                   | escaped                    | an error in XML |
enum ParameterFormat {
    /// `isEncoded`: the parameters are an `Encodable` value, so dates and numbers are written as they encode.
    case form(isEncoded: Bool)
    case json(JSONEncoder)
    case propertyList(isXML: Bool)

    fileprivate func tree(of value: Any, depth: Int) throws -> ParameterTree {
        switch ParameterShape(value) {
        case .null:
            if case .propertyList = self { throw ParameterProblem("a null") }
            return .null
        case .leaf(let leaf):
            return try tree(ofLeaf: leaf, depth: depth)
        case .dictionary(let dictionary):
            return try tree(of: dictionary, depth: depth)
        case .array(let elements):
            return .array(try trees(of: elements, depth: depth))
        case .set(let elements):
            let trees = try trees(of: elements, depth: depth)
            let texts = zip(trees, elements).map { $0.text ?? String(describing: $1) }
            return .set(NameOrder.sortedPositions(of: texts).map { trees[$0] })
        }
    }

    private func tree(of dictionary: ParameterDictionary, depth: Int) throws -> ParameterTree {
        try check(depth: depth)
        if let type = dictionary.typeOfKeyWithoutText { throw ParameterProblem("a key of type \(type)") }
        let names = dictionary.names
        if dictionary.hasOtherKeys, Set(names).count < names.count {
            throw ParameterProblem("two keys with the same text")
        }
        var values: [ParameterTree] = []
        values.reserveCapacity(names.count)
        for (name, value) in zip(names, dictionary.values) {
            try ParameterProblem.inside(ParameterKey(stringValue: name)) {
                try check(text: name)
                values.append(try tree(of: value, depth: depth + 1))
            }
        }
        return .dictionary(names: names, values: values)
    }

    private func trees(of elements: [Any], depth: Int) throws -> [ParameterTree] {
        try check(depth: depth)
        var trees: [ParameterTree] = []
        trees.reserveCapacity(elements.count)
        for (position, element) in elements.enumerated() {
            try ParameterProblem.inside(ParameterKey(intValue: position)) {
                trees.append(try tree(of: element, depth: depth + 1))
            }
        }
        return trees
    }

    private func tree(ofLeaf leaf: Any, depth: Int) throws -> ParameterTree {
        if let scalar = ParameterTree(scalar: leaf) {
            return try tree(ofScalar: scalar, leaf)
        } else if let value = leaf as? any Encodable {
            return try tree(encoding: value, depth: depth)
        } else if let named = leaf as? any RawRepresentable {
            return try tree(of: named.rawValue, depth: depth)
        } else if let text = ParameterTree.description(of: leaf) {
            try check(text: text)
            return .text(text)
        } else {
            throw ParameterProblem("a value of type \(type(of: leaf))")
        }
    }

    private func tree(ofScalar scalar: ParameterTree, _ leaf: Any) throws -> ParameterTree {
        switch self {
        case .form(isEncoded: false):
            return scalar
        case .form(isEncoded: true):
            return try scalar.encoded(leaf, codingPath: [])
        case .json(let encoder):
            switch scalar {
            case .real(let number) where !number.isFinite:
                guard case .throw = encoder.nonConformingFloatEncodingStrategy else {
                    return .encodable(number)
                }
                throw ParameterProblem("the number \(number)")
            case .decimal(let number) where !number.isFinite:
                throw ParameterProblem("the number nan")
            case .date(let date):
                try check(date: date)
                return .encodable(date)
            case .data(let data):
                return .encodable(data)
            default:
                return scalar
            }
        case .propertyList:
            if case .text(let text) = scalar { try check(text: text) }
            if case .date(let date) = scalar { try check(date: date) }
            return scalar
        }
    }

    private func tree(encoding value: some Encodable, depth: Int) throws -> ParameterTree {
        switch self {
        case .form:
            return try ParameterEncoder.tree(of: value, depth: depth)
        case .json(let encoder):
            try ParameterEncoder.check(value, depth: depth, dates: dates, userInfo: encoder.userInfo)
            return .encodable(value)
        case .propertyList:
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            try ParameterEncoder.check(value, depth: depth, dates: dates, userInfo: encoder.userInfo)
            // In an array, because the encoder rejects a top-level text or number.
            let data = try encoder.encode([value])
            // Unsafe: the API takes a pointer to the format, which is not needed here.
            let objects = try unsafe PropertyListSerialization.propertyList(from: data, format: nil) as? [Any]
            return try tree(of: objects?.first as Any, depth: depth)
        }
    }

    // MARK: Unsupported values

    private func check(depth: Int) throws(RequestSerializationError) {
        guard depth < ParameterTree.depthLimit else {
            throw .parametersTooDeep(limit: ParameterTree.depthLimit)
        }
    }

    /// Text that XML 1.0 cannot represent would make the whole document unreadable.
    private func check(text: String) throws(ParameterProblem) {
        guard case .propertyList(isXML: true) = self, !text.isXMLText else { return }
        throw ParameterProblem("text with a character that XML cannot represent")
    }

    private func check(date: Date) throws(ParameterProblem) {
        guard !dates.contains(date) else { return }
        let isFinite = if case .finite = dates { true } else { false }
        throw ParameterProblem(
            isFinite ? "a Date that is not finite" : "a Date outside of the years 1 to 9999"
        )
    }

    private var dates: DateSpan {
        switch self {
        case .form: return .all
        case .json(let encoder):
            // The other strategies write numbers, for which the encoder throws if they are not finite, or are
            // the caller's.
            if case .iso8601 = encoder.dateEncodingStrategy { return .fourDigitYears }
            return .all
        case .propertyList(let isXML): return isXML ? .fourDigitYears : .finite
        }
    }

    fileprivate func error(_ problem: ParameterProblem) -> RequestSerializationError {
        let path = problem.path
        switch self {
        case .form:
            let steps = path.dropFirst().map { "[\($0.stringValue)]" }
            let name = (path.first?.stringValue ?? "") + steps.joined()
            return .invalidParameter(at: name, found: problem.found)
        case .json: return .invalidJSON(at: path.text, found: problem.found)
        case .propertyList: return .invalidPropertyList(at: path.text, found: problem.found)
        }
    }
}

extension [ParameterKey] {
    /// Such as `users[3].born`.
    fileprivate var text: String {
        reduce(into: "") { text, key in
            if key.intValue != nil {
                text += "[\(key.stringValue)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}

extension String {
    /// Whether XML 1.0 can represent every character: no controls except tab and line ends, and neither
    /// U+FFFE nor U+FFFF.
    fileprivate var isXMLText: Bool {
        unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20
                ? scalar.value < 0xFFFE || scalar.value > 0xFFFF
                : scalar == "\t" || scalar == "\n" || scalar == "\r"
        }
    }
}
