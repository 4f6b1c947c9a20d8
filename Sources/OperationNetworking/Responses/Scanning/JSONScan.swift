/// The depth and the values of a JSON text in UTF-8, counted before a parser sees it.
///
/// The limit of values is 2^24, a unit for each 64 octets that Foundation (Swift 6.3) takes, so about 1 GiB:
///
/// | Text               | as a tree | counts | decoded | counts |
/// |--------------------|-----------|--------|---------|--------|
/// | `0,`               | 60 to 95  | 1      | 24      | 1      |
/// | `[0],`             | 425       | 8      | 54      | 2      |
/// | `{"a":1},`         | 3,030     | 50     | 152     | 3      |
/// | `"k":1,` in one object | 168   | 2      |         | 2      |
///
/// Foundation makes a dictionary with room for 20 members. The values that a decoder makes are those of its
/// type, and not counted.
struct JSONScan {
    /// As in Foundation, whose parser refuses more by itself.
    static let maximumDepth = 512
    static let maximumValueCount = 1 << 24

    /// The levels of containers.
    private(set) var depth = 0
    private(set) var valueCount = 1

    /// - Parameters:
    ///   - text: UTF-8.
    ///   - makesTree: whether `JSONSerialization` is going to read it, and not a decoder.
    ///   - isJSON5: whether the parser reads JSON5. Since no two parsers agree where its comments and texts
    ///     end, every mark counts, in these too, and the depth is left to the parser.
    /// - Throws: what there is too much of.
    init(_ text: Span<UInt8>, makesTree: Bool, isJSON5: Bool = false) throws(BodyRefusal) {
        let (object, array) = makesTree ? (48, 7) : (1, 1)
        var level = 0
        var index = 0
        while index < text.count {
            let octet = text[index]
            index += 1
            switch octet {
            case UInt8(ascii: "\"") where !isJSON5:
                while index < text.count {
                    let octet = text[index]
                    index += 1
                    if octet == UInt8(ascii: "\"") { break }
                    if octet == UInt8(ascii: "\\") { index += 1 }
                }
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                valueCount += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                valueCount += octet == UInt8(ascii: "{") ? object : array
                level += 1
                depth = max(depth, level)
                guard level <= Self.maximumDepth || isJSON5 else {
                    throw BodyRefusal("nested in more than \(Self.maximumDepth) levels", at: index - 1)
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
