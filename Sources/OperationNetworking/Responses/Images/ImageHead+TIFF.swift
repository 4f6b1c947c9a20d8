extension ImageHead {
    /// The first directory has the size of the first page. Later ones are not looked at, so they may form a
    /// loop.
    static func tiff(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead {
        guard let directory = TIFFDirectory(bytes, from: 0, to: bytes.count) else {
            throw Malformed("Its first directory is not inside of it.")
        }
        guard let width = directory.width, let height = directory.height else {
            throw Malformed("Its first directory has no size.")
        }
        return try ImageHead(.tiff, width: width, height: height, orientation: directory.orientation ?? 1)
    }

    /// The orientation of Exif metadata, which are a TIFF file of their own; 1 when there is none.
    static func exifOrientation(_ bytes: Span<UInt8>, from start: Int, length: Int) -> Int {
        guard length >= 8, start <= bytes.count - 8 else { return 1 }
        let end = min(bytes.count, start + length)
        return TIFFDirectory(bytes, from: start, to: end)?.orientation ?? 1
    }
}

/// The first directory of a TIFF file (6.0 §2, BigTIFF), as far as it is about size and orientation.
///
/// The first entry of a tag counts, as it does for libtiff, and in every type that libtiff reads: else the
/// decoder would find another size than the one that was judged.
private struct TIFFDirectory {
    var width: Int? { values[256] }
    var height: Int? { values[257] }
    /// 1 to 8.
    var orientation: Int? { values[274].flatMap { (1...8).contains($0) ? $0 : nil } }

    private static let tags: Set<Int> = [256, 257, 274]
    private var seen: Set<Int> = []
    /// Without those that are no number.
    private var values: [Int: Int] = [:]

    /// `nil` when there is no directory between `start` and `end`.
    init?(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        let isLittle = bytes.holds("II", at: start)
        guard isLittle || bytes.holds("MM", at: start) else { return nil }
        let version = bytes.number(start + 2, size: 2, isLittle: isLittle)
        guard version == 42 || version == 43 else { return nil }
        let isBig = version == 43
        if isBig, bytes.number(start + 4, size: 2, isLittle: isLittle) != 8 { return nil }
        guard
            let offset = bytes.number(start + (isBig ? 8 : 4), size: isBig ? 8 : 4, isLittle: isLittle),
            offset >= 8, offset < end - start,
            let count = bytes.number(start + offset, size: isBig ? 8 : 2, isLittle: isLittle)
        else { return nil }

        let entrySize = isBig ? 20 : 12
        var entry = start + offset + (isBig ? 8 : 2)
        // Never `count` entries: only those that are there.
        var left = count
        while left > 0, entry <= end - entrySize, seen.count < Self.tags.count {
            if let tag = bytes.number(entry, size: 2, isLittle: isLittle), Self.tags.contains(tag),
                seen.insert(tag).inserted
            {
                values[tag] = Self.value(bytes, of: entry, start: start, isBig: isBig, isLittle: isLittle)
            }
            entry += entrySize
            left -= 1
        }
    }

    /// The number of an entry, in a type of whole numbers; `nil` for another type, and for a number that is
    /// not inside of the data.
    private static func value(
        _ bytes: Span<UInt8>,
        of entry: Int,
        start: Int,
        isBig: Bool,
        isLittle: Bool
    ) -> Int? {
        let type = bytes.number(entry + 2, size: 2, isLittle: isLittle)
        var position = entry + (isBig ? 12 : 8)
        let size: Int
        switch type {
        case 1, 6: size = 1
        case 3, 8: size = 2
        case 4, 9: size = 4
        case 16, 17:
            size = 8
            // There is room for four bytes in an entry of a small file: they are the place of the eight.
            if !isBig {
                guard let offset = bytes.number(position, size: 4, isLittle: isLittle) else { return nil }
                position = start + offset
            }
        default: return nil
        }
        // A number that needs 64 bits is negative, or more than any image has.
        guard let value = bytes.number(position, size: size, isLittle: isLittle) else { return nil }
        switch type {
        case 6: return Int(Int8(truncatingIfNeeded: value))
        case 8: return Int(Int16(truncatingIfNeeded: value))
        case 9: return Int(Int32(truncatingIfNeeded: value))
        default: return value
        }
    }
}
