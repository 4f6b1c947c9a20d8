import Foundation

/// A binary property list, octet by octet.
struct Binary: Sendable {
    let data: Data

    init(data: Data) { self.data = data }

    init(
        objects: [[UInt8]],
        offsets: [Int]? = nil,
        offsetWidth: UInt8 = 4,
        referenceWidth: UInt8 = 1,
        count: UInt64? = nil,
        root: UInt64 = 0,
        table: UInt64? = nil
    ) {
        var data = Data("bplist00".utf8)
        var found: [Int] = []
        for object in objects {
            found.append(data.count)
            data += object
        }
        let end = UInt64(data.count)
        for offset in offsets ?? found { data += Binary.bytes(UInt64(offset)).suffix(4) }
        data += [0, 0, 0, 0, 0, 0, offsetWidth, referenceWidth]
        data += Binary.bytes(count ?? UInt64(objects.count)) + Binary.bytes(root) + Binary.bytes(table ?? end)
        self.data = data
    }

    static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// Arrays that have the next one twice.
    static func doubling(_ count: Int) -> Binary {
        Binary(objects: (0..<count).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] } + [[0x09]])
    }

    /// Arrays in one another, and truth in the last.
    static func levels(_ count: Int) -> Data {
        let chain = (0..<count - 1).map { [0xA1] + bytes(UInt64($0 + 1)).suffix(4) }
        return Binary(objects: chain + [[0x09]], referenceWidth: 4).data
    }
}
