internal import OperationNetworkingSystem

/// A scan of a JSON text in UTF-8 before it is parsed, which counts its depth and values.
///
/// The limit is 2^24 units. A unit is 64 octets of Foundation's memory (Swift 6.3), so the limit is about 1
/// GiB:
///
/// | Text               | as a tree | counts | decoded | counts |
/// |--------------------|-----------|--------|---------|--------|
/// | `0,`               | 60 to 95  | 1      | 24      | 1      |
/// | `[0],`             | 425       | 8      | 54      | 2      |
/// | `{"a":1},`         | 3,030     | 50     | 152     | 3      |
/// | `"k":1,` in one object | 168   | 2      |         | 2      |
///
/// Foundation creates a dictionary with room for 20 members. The values that a decoder creates are those of
/// the decoded type, and are not counted.
struct JSONScan {
    /// Foundation's parser has the same limit.
    static let maximumDepth = 512
    static let maximumValueCount = 1 << 24

    /// The number of levels of containers.
    private(set) var depth = 0
    private(set) var valueCount = 1

    /// - Parameters:
    ///   - text: UTF-8.
    ///   - makesTree: whether `JSONSerialization` is going to parse it, rather than a decoder.
    ///   - isJSON5: whether the parser reads JSON5. Parsers disagree about where its comments and strings
    ///     end, so marks inside of them count as well, and the parser checks the depth.
    /// - Throws: the limit that is exceeded.
    init(_ text: Span<UInt8>, makesTree: Bool, isJSON5: Bool = false) throws(BodyRefusal) {
        let (object, array) = makesTree ? (48, 7) : (1, 1)
        var level = 0
        var index = 0
        while index < text.count {
            let octet = text[index]
            index += 1
            switch octet {
            case UInt8(ascii: "\"") where !isJSON5:
                index = text.endOfString(from: index)
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                valueCount += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                valueCount += octet == UInt8(ascii: "{") ? object : array
                level += 1
                depth = max(depth, level)
                guard level <= Self.maximumDepth || isJSON5 else {
                    throw BodyRefusal("more than \(Self.maximumDepth) levels", at: index - 1)
                }
                guard valueCount <= Self.maximumValueCount else { throw Self.tooBig }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                level -= 1
            default:
                break
            }
        }
        guard valueCount <= Self.maximumValueCount else { throw Self.tooBig }
        if isJSON5 { depth = Self.maximumDepth }
    }

    private static let tooBig = BodyRefusal("Its values would take more than about 1 GiB of memory.")
}

extension Span<UInt8> {
    /// Finds the end of a JSON string. Most octets of a text are in strings, so they are searched for the quote,
    /// and only the octets before it are looked at.
    ///
    /// - Parameter start: the index of the string's first octet.
    /// - Returns: the index behind the quote that ends the string.
    fileprivate func endOfString(from start: Int) -> Int {
        var end = start
        while end < count, let offset = extracting(end...).firstIndex(of: UInt8(ascii: "\"")) {
            let quote = end + offset
            var escape = quote
            while escape > start, self[escape - 1] == UInt8(ascii: "\\") { escape -= 1 }
            end = quote + 1
            if (quote - escape).isMultiple(of: 2) { return end }
        }
        return count
    }
}
