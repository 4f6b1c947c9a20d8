internal import Foundation

/// A scan of a binary property list before it is parsed, which rejects a list that would exhaust or crash the
/// parser.
///
/// | Part             | Octets                                                                                |
/// |------------------|---------------------------------------------------------------------------------------|
/// | `bplist00`       | 8                                                                                     |
/// | objects          | a marker each: kind in the high half, size in the low one, or after it if that is 15  |
/// | table of offsets | one per object, with the width that the trailer specifies                             |
/// | trailer          | 6 unused; the width of an offset, and of a reference; 8 each: the number of           |
/// |                  | objects, the root, and the offset of the table                                        |
///
/// Objects refer to each other by number, so a list of a few octets can contain itself, or be a tree of 2^60
/// leaves. An object counts as often as it is referred to.
struct BinaryPropertyListScan {
    /// The magic number: the first octets of every binary property list.
    static let mark = Data("bplist00".utf8)

    /// As in XML, because Foundation's parser is recursive.
    static let maximumDepth = XMLScan.maximumDepth

    /// The number of levels.
    private(set) var depth = 0

    /// The size of an object and everything in it.
    private struct Extent {
        var height = 1
        var values = 1
        /// The approximate memory that it takes, including its own octets.
        var octets = 16
        /// See ``XMLScan/maximumKeyPairCount``.
        var keyPairs = 0

        mutating func add(_ part: Extent) {
            height = max(height, part.height + 1)
            values += part.values
            octets += part.octets
            keyPairs += part.keyPairs
        }
    }

    private let objectsEnd: Int
    private let offsetWidth: Int
    private let referenceWidth: Int
    private let objectCount: Int
    private let maximumValueCount: Int
    /// 16 times the body, plus 64 MiB for small bodies.
    private let maximumOctetCount: Int
    /// The extents of arrays and dictionaries; `nil` for one that is being counted. If that comes up again,
    /// it contains itself.
    private var containers: [Int: Extent?] = [:]

    /// - Parameters:
    ///   - octets: a body that begins with ``mark``.
    ///   - maximumValueCount: the maximum number of values.
    /// - Throws: the first reason for refusing the list.
    init(
        _ octets: Span<UInt8>,
        maximumValueCount: Int = BodyRefusal.maximumValueCount
    ) throws(BodyRefusal) {
        let trailer = octets.count - 32
        guard trailer > 8 else { throw BodyRefusal("It has no trailer.") }
        offsetWidth = Int(octets[trailer + 6])
        referenceWidth = Int(octets[trailer + 7])
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth),
            let objectCount = octets.number(at: trailer + 8, width: 8),
            let root = octets.number(at: trailer + 16, width: 8),
            let table = octets.number(at: trailer + 24, width: 8),
            objectCount > 0, root < objectCount, table > 8, table < trailer,
            objectCount <= (trailer - table) / offsetWidth
        else { throw BodyRefusal("Its trailer does not match its length.") }
        self.objectCount = objectCount
        self.maximumValueCount = maximumValueCount
        objectsEnd = table
        maximumOctetCount = 16 * octets.count + 64 * 1024 * 1024
        depth = try extent(of: root, level: 1, octets).height
    }

    private mutating func extent(
        of object: Int,
        level: Int,
        _ octets: Span<UInt8>
    ) throws(BodyRefusal) -> Extent {
        let known = containers[object]
        if case .some(nil) = known { throw BodyRefusal("Object \(object) contains itself.") }
        let height = known.flatMap { $0?.height } ?? 1
        guard level + height - 1 <= Self.maximumDepth else {
            throw BodyRefusal("It has more than \(Self.maximumDepth) levels.")
        }
        if let extent = known.flatMap({ $0 }) { return extent }
        let (kind, contents) = try self.object(object, octets)
        var extent = Extent(octets: 16 + contents.count)
        guard kind >= 0xA else { return extent }
        containers[object] = .some(nil)
        let keys = kind == 0xD ? contents.count / 2 / referenceWidth : 0
        extent.keyPairs = keys * (keys - 1) / 2
        var index = 0
        for start in stride(from: contents.lowerBound, to: contents.upperBound, by: referenceWidth) {
            guard let part = octets.number(at: start, width: referenceWidth), part < objectCount else {
                throw BodyRefusal("Object \(object) refers to one that does not exist.")
            }
            if index < keys, !(0x5...0x7).contains(try self.object(part, octets).kind) {
                throw BodyRefusal("Object \(object) has a key that is not text.")
            }
            index += 1
            extent.add(try self.extent(of: part, level: level + 1, octets))
            guard extent.keyPairs <= XMLScan.maximumKeyPairCount else {
                throw BodyRefusal("Its dictionaries have too many keys.")
            }
            guard extent.values <= maximumValueCount else {
                throw BodyRefusal("It has more than \(maximumValueCount) values.")
            }
            guard extent.octets <= maximumOctetCount else {
                throw BodyRefusal("It would expand to much more than the size of the body.")
            }
        }
        containers[object] = extent
        return extent
    }

    /// The kind of an object, and the range of its octets or references, which follow its marker and size.
    private func object(
        _ object: Int,
        _ octets: Span<UInt8>
    ) throws(BodyRefusal) -> (kind: UInt8, contents: Range<Int>) {
        guard let offset = octets.number(at: objectsEnd + object * offsetWidth, width: offsetWidth),
            offset >= 8, offset < objectsEnd
        else { throw BodyRefusal("Object \(object) lies outside of it.") }
        let marker = octets[offset]
        var start = offset + 1
        var count = Int(marker & 0x0F)
        var unit = 1
        switch marker {
        case 0x08, 0x09: count = 0  // false, true
        case 0x10...0x14, 0x22, 0x23: count = 1 << count  // an integer, a real number
        case 0x33: count = 8  // a date
        case 0x40...0x7F, 0xA0...0xAF, 0xD0...0xDF:
            if count == 0xF {
                guard start < objectsEnd, (0x10...0x13).contains(octets[start]),
                    case let width = 1 << Int(octets[start] & 0x0F),
                    let size = octets.number(at: start + 1, width: width), size < octets.count
                else { throw BodyRefusal("Object \(object) has a malformed size.") }
                count = size
                start += 1 + width
            }
            switch marker >> 4 {
            case 0x6: unit = 2  // UTF-16
            case 0xA: unit = referenceWidth  // an array
            case 0xD: unit = 2 * referenceWidth  // a dictionary
            default: break  // data, ASCII, UTF-8
            }
        default:
            throw BodyRefusal("Object \(object) has an unknown kind (\(marker)).")
        }
        guard start + count * unit <= objectsEnd else {
            throw BodyRefusal("Object \(object) exceeds the table of objects.")
        }
        // Foundation traps when it describes such a date.
        if marker == 0x33, octets.isNaN(at: start) {
            throw BodyRefusal("Object \(object) is a date that is not a number.")
        }
        return (marker >> 4, start..<start + count * unit)
    }
}

extension Span<UInt8> {
    /// A big-endian number; `nil` if it exceeds the data, or does not fit into `Int`.
    fileprivate func number(at start: Int, width: Int) -> Int? {
        guard start >= 0, width <= count - start else { return nil }
        var number: UInt64 = 0
        for index in start..<start + width { number = number << 8 | UInt64(self[index]) }
        return Int(exactly: number)
    }

    /// Whether a big-endian `Double` is not a number. All 8 octets have to exist.
    fileprivate func isNaN(at start: Int) -> Bool {
        var pattern: UInt64 = 0
        for index in start..<start + 8 { pattern = pattern << 8 | UInt64(self[index]) }
        return Double(bitPattern: pattern).isNaN
    }
}
