internal import Foundation

/// A binary property list, read beforehand, so that no list can lie to its parser.
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
/// leaves. Each counts as often as it is referred to.
struct BinaryPropertyListScan {
    /// The magic number: the first octets of every binary property list.
    static let mark = Data("bplist00".utf8)

    /// As in XML: Foundation's parser is recursive.
    static let maximumDepth = XMLScan.maximumDepth

    /// The levels of objects.
    private(set) var depth = 0

    /// What an object has in it, itself included.
    private struct Extent {
        var height = 1
        var values = 1
        /// The memory that it takes besides its own octets, about, and those.
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
    /// 16 times the body, and 64 MiB more for small ones.
    private let maximumOctetCount: Int
    /// Arrays and dictionaries; `nil` for one that is being counted: if it comes up again, it contains itself.
    private var containers: [Int: Extent?] = [:]

    /// - Parameters:
    ///   - octets: a body that begins with ``mark``.
    ///   - maximumValueCount: the limit of values.
    /// - Throws: what is refused first.
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
        else { throw BodyRefusal("Its trailer does not fit it.") }
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
                throw BodyRefusal("Object \(object) refers to one that is not there.")
            }
            if index < keys, !(0x5...0x7).contains(try self.object(part, octets).kind) {
                throw BodyRefusal("Object \(object) has a key that is no text.")
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
                throw BodyRefusal("It would become much bigger than the body.")
            }
        }
        containers[object] = extent
        return extent
    }

    /// The kind of an object, and the range of its octets or references, behind its marker and size.
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
            throw BodyRefusal("Object \(object) is of a kind (\(marker)) that no property list has.")
        }
        guard start + count * unit <= objectsEnd else {
            throw BodyRefusal("Object \(object) reaches beyond the others.")
        }
        // Foundation traps where it describes such a date.
        if marker == 0x33, octets.isNaN(at: start) {
            throw BodyRefusal("Object \(object) is a date that is not a number.")
        }
        return (marker >> 4, start..<start + count * unit)
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
