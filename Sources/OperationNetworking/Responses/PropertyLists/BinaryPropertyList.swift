internal import Foundation

/// Why a binary property list is not given to Foundation.
struct BinaryPropertyListRefusal: Error, Hashable, Sendable {
    /// One sentence.
    let sentence: String
}

/// The binary property list, read beforehand, so that no list can lie to its parser.
///
/// | Part             | Octets                                                                                |
/// |------------------|---------------------------------------------------------------------------------------|
/// | `bplist00`       | 8                                                                                     |
/// | objects          | a marker each: kind in the high half, size in the low one, or behind it if that is 15 |
/// | table of offsets | one for each object, each as wide as the trailer says                                 |
/// | trailer          | 6 of no use; the width of an offset, and of a reference; 8 each: the number of        |
/// |                  | objects, the root, where the table begins                                             |
///
/// Objects refer to each other by number, so a list of a few octets can contain itself, or be a tree of 2^60
/// leaves.
struct BinaryPropertyList {
    /// The magic number: the first octets of every binary property list.
    static let mark = Data("bplist00".utf8)

    /// As ``XMLStructure/maximumDepth``: Foundation's parser is recursive.
    static let maximumDepth = 256

    /// The limit of pairs of keys in all dictionaries: 2^26, so 11,585 keys in one.
    ///
    /// CoreFoundation's hash of text is predictable, and covers only a part of it. A dictionary whose keys
    /// all have one hash takes time with the square of their number: 8,000 keys in 600 KB take 2 s.
    static let maximumKeyPairCount = 1 << 26

    /// The limit of values when every reference is followed: about 1 GiB. Foundation and the tree of values
    /// take 150 to 185 bytes for each.
    static let maximumValueCount = 6_000_000

    /// The limit of octets when every reference is followed: 16 times the body, and 64 MiB more for small
    /// bodies.
    private static func maximumWeight(ofBody count: Int) -> Int {
        16 * count + 64 * 1024 * 1024
    }

    /// The memory that an object takes besides its own octets, about.
    private static let weightOfObject = 16

    /// - Parameters:
    ///   - octets: a body that begins with ``mark``.
    ///   - maximumValueCount: the limit of values.
    /// - Throws: what is refused first.
    static func check(
        _ octets: Span<UInt8>,
        maximumValueCount: Int = BinaryPropertyList.maximumValueCount
    ) throws(BinaryPropertyListRefusal) {
        var list = try BinaryPropertyList(octets, maximumValueCount: maximumValueCount)
        let weight = try list.weigh(list.root, depth: 1, octets)
        guard list.keyPairs[list.root, default: 0] <= maximumKeyPairCount else {
            throw BinaryPropertyListRefusal(sentence: "Its dictionaries have too many keys.")
        }
        guard list.counts[list.root, default: 1] <= maximumValueCount else {
            throw BinaryPropertyListRefusal(sentence: "It has more than \(maximumValueCount) values.")
        }
        guard weight <= maximumWeight(ofBody: octets.count) else {
            throw BinaryPropertyListRefusal(sentence: "It would become much bigger than the body.")
        }
    }

    private enum Weight {
        case open
        case known(Int)
    }

    private let objectsEnd: Int
    private let offsetWidth: Int
    private let referenceWidth: Int
    private let objectCount: Int
    private let root: Int
    private let maximumValueCount: Int
    /// By object. An object that is being weighed and comes up again contains itself.
    private var weights: [Int: Weight] = [:]
    /// The height of the tree below an object, itself included: a shared object counts where it lies deepest.
    private var heights: [Int: Int] = [:]
    /// The pairs of keys in an object that has some, those below it included.
    private var keyPairs: [Int: Int] = [:]
    /// The values in an array or dictionary, itself included. Other objects are one.
    private var counts: [Int: Int] = [:]

    private init(_ octets: Span<UInt8>, maximumValueCount: Int) throws(BinaryPropertyListRefusal) {
        self.maximumValueCount = maximumValueCount
        let trailer = octets.count - 32
        guard trailer > 8 else { throw BinaryPropertyListRefusal(sentence: "It has no trailer.") }
        offsetWidth = Int(octets[trailer + 6])
        referenceWidth = Int(octets[trailer + 7])
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth),
            let objectCount = octets.number(at: trailer + 8, width: 8),
            let root = octets.number(at: trailer + 16, width: 8),
            let table = octets.number(at: trailer + 24, width: 8),
            objectCount > 0, root < objectCount, table > 8, table < trailer,
            objectCount <= (trailer - table) / offsetWidth
        else { throw BinaryPropertyListRefusal(sentence: "Its trailer does not fit it.") }
        self.objectCount = objectCount
        self.root = root
        objectsEnd = table
    }

    /// The weight of the object with everything in it, at least; never more than a bit above the limit.
    private mutating func weigh(
        _ object: Int,
        depth: Int,
        _ octets: Span<UInt8>
    ) throws(BinaryPropertyListRefusal) -> Int {
        guard depth <= BinaryPropertyList.maximumDepth else {
            throw BinaryPropertyListRefusal(
                sentence: "It has more than \(BinaryPropertyList.maximumDepth) levels."
            )
        }
        switch weights[object] {
        case .known(let weight):
            let height = heights[object, default: 1]
            guard depth + height - 1 <= BinaryPropertyList.maximumDepth else {
                throw BinaryPropertyListRefusal(
                    sentence: "It has more than \(BinaryPropertyList.maximumDepth) levels."
                )
            }
            return weight
        case .open:
            throw BinaryPropertyListRefusal(sentence: "Object \(object) contains itself.")
        case nil:
            break
        }
        guard let offset = octets.number(at: objectsEnd + object * offsetWidth, width: offsetWidth),
            offset >= 8,
            offset < objectsEnd
        else { throw BinaryPropertyListRefusal(sentence: "Object \(object) lies outside of it.") }
        let marker = octets[offset]
        let body = try contents(of: object, marker, at: offset, octets)
        // Foundation traps where it describes such a date.
        if marker == 0x33, octets.isNaN(at: body.lowerBound) {
            throw BinaryPropertyListRefusal(sentence: "Object \(object) is a date that is not a number.")
        }
        var weight = BinaryPropertyList.weightOfObject + body.count
        var height = 1
        if marker >> 4 >= 0xA {
            weights[object] = .open
            let limit = BinaryPropertyList.maximumWeight(ofBody: octets.count)
            let keys = marker >> 4 == 0xD ? body.count / 2 / referenceWidth : 0
            var pairs = keys * (keys - 1) / 2
            var count = 1
            for (index, start) in stride(from: body.lowerBound, to: body.upperBound, by: referenceWidth)
                .enumerated()
            {
                guard let child = octets.number(at: start, width: referenceWidth), child < objectCount else {
                    throw BinaryPropertyListRefusal(
                        sentence: "Object \(object) refers to one that is not there."
                    )
                }
                if index < keys, !isText(child, octets) {
                    throw BinaryPropertyListRefusal(sentence: "Object \(object) has a key that is no text.")
                }
                weight += try weigh(child, depth: depth + 1, octets)
                height = max(height, heights[child, default: 1] + 1)
                pairs += keyPairs[child, default: 0]
                count += counts[child, default: 1]
                guard weight <= limit, pairs <= BinaryPropertyList.maximumKeyPairCount,
                    count <= maximumValueCount
                else { break }
            }
            heights[object] = height
            counts[object] = count
            if pairs > 0 { keyPairs[object] = pairs }
        }
        weights[object] = .known(weight)
        return weight
    }

    /// The range of an object's octets or references, behind its marker and size.
    private func contents(
        of object: Int,
        _ marker: UInt8,
        at offset: Int,
        _ octets: Span<UInt8>
    ) throws(BinaryPropertyListRefusal) -> Range<Int> {
        let low = Int(marker & 0x0F)
        var start = offset + 1
        let length: Int?
        switch marker {
        case 0x08, 0x09: length = 0  // false, true
        case 0x10...0x14: length = 1 << low  // an integer
        case 0x22, 0x23: length = 1 << low  // a real number
        case 0x33: length = 8  // a date
        case 0x40...0x7F, 0xA0...0xAF, 0xD0...0xDF:
            let unit: Int
            switch marker >> 4 {
            case 0x4, 0x5, 0x7: unit = 1  // data, ASCII, UTF-8
            case 0x6: unit = 2  // UTF-16
            case 0xA: unit = referenceWidth  // an array
            default: unit = 2 * referenceWidth  // a dictionary
            }
            var count: Int? = low
            if low == 0xF {
                guard start < objectsEnd, octets[start] & 0xF0 == 0x10, octets[start] & 0x0F <= 3 else {
                    throw BinaryPropertyListRefusal(sentence: "Object \(object) has a malformed size.")
                }
                let width = 1 << Int(octets[start] & 0x0F)
                count = octets.number(at: start + 1, width: width)
                start += 1 + width
            }
            length = count.flatMap { count in
                let (length, overflows) = count.multipliedReportingOverflow(by: unit)
                return overflows ? nil : length
            }
        default:
            throw BinaryPropertyListRefusal(
                sentence: "Object \(object) is of a kind (\(marker)) that no property list has."
            )
        }
        guard let length, start <= objectsEnd, length <= objectsEnd - start else {
            throw BinaryPropertyListRefusal(sentence: "Object \(object) reaches beyond the others.")
        }
        return start..<start + length
    }

    private func isText(_ object: Int, _ octets: Span<UInt8>) -> Bool {
        guard let offset = octets.number(at: objectsEnd + object * offsetWidth, width: offsetWidth),
            offset < octets.count
        else { return false }
        return (0x5...0x7).contains(octets[offset] >> 4)
    }
}

extension Span<UInt8> {
    /// A big-endian number; `nil` when it is not all there, or does not fit.
    fileprivate func number(at start: Int, width: Int) -> Int? {
        guard start >= 0, width <= count - start else { return nil }
        var number: UInt64 = 0
        for index in start..<start + width { number = number << 8 | UInt64(self[index]) }
        return Int(exactly: number)
    }

    /// Whether the big-endian `Double` there is not a number. All of its 8 octets have to be there.
    fileprivate func isNaN(at start: Int) -> Bool {
        var pattern: UInt64 = 0
        for index in start..<start + 8 { pattern = pattern << 8 | UInt64(self[index]) }
        return Double(bitPattern: pattern).isNaN
    }
}
