internal import Foundation

/// Makes of parameters the tree that a writer of Foundation takes, and finds out what it does not take before
/// it is asked: some of that traps.
///
/// A tree of `[String: Any]`, `[Any]`, text and numbers is looked at and handed on as it is. Anything that
/// stands for such a tree (typed dictionaries and arrays, optionals, `NSArray` and its kind) is rewritten, so
/// that no object which others may change is read twice.
struct PlainTree {
    /// The format in which the tree will be written.
    enum Format {
        case json
        /// Text in XML has no control characters; the binary format has no such limit.
        case propertyList(isXML: Bool)

        fileprivate var dates: DateSpan {
            switch self {
            case .json: .all
            case .propertyList(isXML: true): .fourDigitYears
            case .propertyList(isXML: false): .finite
            }
        }
    }

    /// A value that the format cannot hold.
    struct Problem: Error {
        /// Such as `users[3].born`.
        fileprivate(set) var path: String
        /// Such as `a Date`.
        let found: String
        /// Whether it is of a type that the format does not know, rather than a value that it cannot write.
        var isTypeUnknown = false
        var isTooDeep = false

        fileprivate func inside(_ step: String) -> Problem {
            var problem = self
            problem.path = step + (path.isEmpty || path.hasPrefix("[") ? "" : ".") + path
            return problem
        }
    }

    let format: Format

    /// The value, rewritten where it has to be.
    func plain(_ value: Any) throws(Problem) -> Any {
        try replacement(for: value, depth: 0) ?? value
    }

    // MARK: - Private

    /// `nil` when the value can stay as it is.
    private func replacement(for value: Any, depth: Int) throws(Problem) -> Any? {
        if ParameterScalar.isKnown(type(of: value)) {
            try check(scalar: value)
            return nil
        }
        switch ParameterShape(value) {
        case .dictionary(let dictionary):
            return try replacement(for: dictionary, isPlain: type(of: value) == [String: Any].self, depth)
        case .array(let array):
            return try replacement(for: array, isPlain: type(of: value) == [Any].self, depth)
        case .set:
            throw unknown(value)
        case .null:
            guard case .json = format else { throw Problem(path: "", found: "a null") }
            return NSNull()
        case .leaf(let leaf):
            guard ParameterScalar.isKnown(type(of: leaf)) else { return try object(leaf) }
            try check(scalar: leaf)
            return leaf
        }
    }

    private func replacement(
        for dictionary: ParameterDictionary,
        isPlain: Bool,
        _ depth: Int
    ) throws(Problem) -> Any? {
        try check(depth: depth)
        guard !dictionary.hasOtherKeys else {
            throw Problem(path: "", found: "a key that is no String", isTypeUnknown: true)
        }
        var replaced: [String: Any]? = isPlain ? nil : [:]
        replaced?.reserveCapacity(dictionary.names.count)
        for position in dictionary.names.indices {
            let name = dictionary.names[position]
            do throws(Problem) {
                try check(text: name)
                let value = dictionary.values[position]
                let other = try replacement(for: value, depth: depth + 1)
                if other != nil, replaced == nil { replaced = dictionary.copy(upTo: position) }
                replaced?[name] = other ?? value
            } catch {
                throw error.inside(name)
            }
        }
        return replaced
    }

    private func replacement(for array: [Any], isPlain: Bool, _ depth: Int) throws(Problem) -> Any? {
        try check(depth: depth)
        var replaced: [Any]? = isPlain ? nil : []
        replaced?.reserveCapacity(array.count)
        for position in array.indices {
            do throws(Problem) {
                let other = try replacement(for: array[position], depth: depth + 1)
                if other != nil, replaced == nil { replaced = Array(array[..<position]) }
                replaced?.append(other ?? array[position])
            } catch {
                throw error.inside("[\(position)]")
            }
        }
        return replaced
    }

    private func check(depth: Int) throws(Problem) {
        guard depth < ParameterShape.depthLimit else {
            throw Problem(path: "", found: "", isTooDeep: true)
        }
    }

    private func check(scalar: Any) throws(Problem) {
        let type = type(of: scalar)
        if type == Double.self || type == Float.self {
            try check(number: scalar as? Double ?? (scalar as? Float).map(Double.init) ?? 0)
        } else if type == String.self, let text = scalar as? String {
            try check(text: text)
        }
    }

    private func check(number: Double) throws(Problem) {
        guard case .json = format, !number.isFinite else { return }
        throw Problem(path: "", found: "the number \(number)")
    }

    /// Text that XML 1.0 has no way to write would make the whole document unreadable.
    private func check(text: String) throws(Problem) {
        guard case .propertyList(isXML: true) = format, !text.isXMLText else { return }
        throw Problem(path: "", found: "text with a character that XML does not have")
    }

    /// A leaf of another type than the standard library's.
    private func object(_ leaf: Any) throws(Problem) -> Any {
        if let text = leaf as? String {
            try check(text: text)
            return text
        }
        if let number = leaf as? NSNumber, leaf is NSNumber || leaf is Decimal {
            try check(number: number.doubleValue)
            return number
        }
        guard case .propertyList(let isXML) = format else { throw unknown(leaf) }
        if let data = leaf as? Data { return data }
        guard let date = leaf as? Date else { throw unknown(leaf) }
        guard format.dates.contains(date) else {
            let found = isXML ? "a Date outside of the years 1 to 9999" : "a Date that is not finite"
            throw Problem(path: "", found: found)
        }
        return date
    }

    private func unknown(_ value: Any) -> Problem {
        Problem(path: "", found: "a value of type \(type(of: value))", isTypeUnknown: true)
    }
}

extension ParameterDictionary {
    /// The entries before a position.
    fileprivate func copy(upTo end: Int) -> [String: Any] {
        var copy: [String: Any] = [:]
        copy.reserveCapacity(names.count)
        for position in 0..<end { copy[names[position]] = values[position] }
        return copy
    }
}

extension String {
    /// Whether XML 1.0 can hold every character: no controls but tab and line ends, no U+FFFE and U+FFFF.
    fileprivate var isXMLText: Bool {
        unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20
                ? scalar.value < 0xFFFE || scalar.value > 0xFFFF
                : scalar == "\t" || scalar == "\n" || scalar == "\r"
        }
    }
}
