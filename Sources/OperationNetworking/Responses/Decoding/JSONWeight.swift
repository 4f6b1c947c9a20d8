internal import Foundation

/// The memory that Foundation takes for a JSON text, in units of 64 octets, estimated before its parsers see
/// the text.
///
/// Measured with Swift 6.3, in octets, and what it weighs here:
///
/// | Text                     | as a tree | weight | decoded | weight |
/// |--------------------------|-----------|--------|---------|--------|
/// | `0,`                     | 60        | 1      | 24      | 1      |
/// | `123.45678,`             | 95        | 1      | 24      | 1      |
/// | `[],`                    | 60        | 1      | 35      | 1      |
/// | `[0],`                   | 425       | 8      | 54      | 2      |
/// | `{},`                    | 186       | 3      | 35      | 1      |
/// | `{"a":1},`               | 3,030     | 49     | 152     | 3      |
/// | `"k":1,` in one object   | 168       | 3      |         | 2      |
/// | text of 16 octets        | 136       | 2      | 7       | 1      |
///
/// The values that a decoder makes are those of its type, and not counted.
struct JSONWeight {
    /// The limit: 2^24, so about 1 GiB. That is 16 million numbers, or 340,000 objects in a tree.
    static let maximum = 1 << 24

    /// No value weighs more than 12 for each of its octets, so shorter texts need not be weighed.
    private static let lightLength = 1 << 20

    /// Foundation makes a dictionary with room for 20 members, whatever it holds, and an array with some.
    static let tree = JSONWeight(object: 2, members: 44, elements: 7, member: 2, longText: 1)
    static let decoded = JSONWeight(object: 0, members: 1, elements: 1, member: 1, longText: 0)

    private let object: Int
    /// More for an object that is not empty.
    private let members: Int
    /// More for an array that is not empty.
    private let elements: Int
    private let member: Int
    /// More for a text of 16 octets and more, which Swift keeps apart.
    private let longText: Int

    /// Why a text is not given to a parser: one sentence; `nil` if it is.
    func refusal(of text: Data) -> String? {
        guard text.count > JSONWeight.lightLength, weight(of: text.span) > JSONWeight.maximum else {
            return nil
        }
        return "Its values would take more than about 1 GiB of memory."
    }

    /// The weight of a text, or one beyond the limit.
    ///
    /// A parser of JSON ends at a comment or an apostrophe; one of JSON5 does not, and it may find the end of
    /// a comment elsewhere. So behind the first comment all marks count, those in texts too.
    func weight(of octets: Span<UInt8>, limit: Int = JSONWeight.maximum) -> Int {
        let units = JSONUnits(octets)
        let count = octets.count / units.width
        var weight = 1
        var more = 0
        var hasComments = false
        var index = 0
        while index < count, weight <= limit {
            let unit = units.unit(index, octets)
            index += 1
            switch unit {
            case 0x20, 0x0A, 0x0D, 0x09:
                continue
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                more = 0
                continue
            default:
                weight += more
                more = 0
            }
            switch unit {
            case UInt8(ascii: "["):
                more = elements
            case UInt8(ascii: "{"):
                weight += object
                more = members
            case UInt8(ascii: ","):
                weight += 1
            case UInt8(ascii: ":"):
                weight += member
            case UInt8(ascii: "/"):
                hasComments = true
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard !hasComments else { continue }
                let start = index
                index = units.endOfText(from: start, quote: unit, octets)
                if index - start > 16 { weight += longText }
            default:
                break
            }
        }
        return weight
    }
}

/// The code units of a JSON text: UTF-8, or the wider ones that Foundation's parsers recognize by the byte
/// order mark or the zeros of the first four octets.
private struct JSONUnits {
    /// The octets of a unit.
    let width: Int
    /// The place of the lowest octet in a unit.
    private let low: Int

    init(_ octets: Span<UInt8>) {
        guard octets.count >= 4 else {
            (width, low) = (1, 0)
            return
        }
        (width, low) =
            switch (octets[0], octets[1], octets[2], octets[3]) {
            case (0x00, 0x00, 0xFE, 0xFF), (0x00, 0x00, 0x00, _): (4, 3)
            case (0xFF, 0xFE, 0x00, 0x00), (_, 0x00, 0x00, 0x00): (4, 0)
            case (0xFE, 0xFF, _, _), (0x00, _, 0x00, _): (2, 1)
            case (0xFF, 0xFE, _, _), (_, 0x00, _, 0x00): (2, 0)
            default: (1, 0)
            }
    }

    /// The ASCII character of a unit; 0xFF for others.
    func unit(_ index: Int, _ octets: Span<UInt8>) -> UInt8 {
        guard width > 1 else { return octets[index] }
        let start = index * width
        for place in 0..<width where place != low && octets[start + place] != 0 { return 0xFF }
        return octets[start + low]
    }

    /// The index behind the quotation mark that ends a text.
    func endOfText(from start: Int, quote: UInt8, _ octets: Span<UInt8>) -> Int {
        let count = octets.count / width
        var index = start
        while index < count {
            let unit = unit(index, octets)
            index += 1
            if unit == quote { break }
            if unit == UInt8(ascii: "\\") { index += 1 }
        }
        return index
    }
}
