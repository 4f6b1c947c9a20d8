extension ImageHead {
    /// Reads the size of the first page in the first directory. Later directories are ignored, so that a loop
    /// does not matter.
    static func tiff(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead {
        guard let directory = TIFFDirectory(bytes, from: 0, to: bytes.count) else {
            throw Malformed("Its first directory lies outside of the data.")
        }
        guard let width = directory.width, let height = directory.height else {
            throw Malformed("Its first directory has no size.")
        }
        return try ImageHead(.tiff, width: width, height: height, orientation: directory.orientation ?? 1)
    }

    /// The orientation in Exif metadata, which are a TIFF file of their own; 1 if they have none.
    static func exifOrientation(_ bytes: Span<UInt8>, from start: Int, length: Int) -> Int {
        guard length >= 8, start <= bytes.count - 8 else { return 1 }
        let end = min(bytes.count, start + length)
        return TIFFDirectory(bytes, from: start, to: end)?.orientation ?? 1
    }
}

/// The first directory of a TIFF file (6.0 §2, BigTIFF), reduced to size and orientation.
///
/// As in libtiff, the first entry of a tag is used, in every type that libtiff reads. Otherwise the decoder
/// could find another size than the one checked here.
private struct TIFFDirectory {
    var width: Int? { values[256] }
    var height: Int? { values[257] }
    /// From 1 to 8.
    var orientation: Int? { values[274].flatMap { (1...8).contains($0) ? $0 : nil } }

    private static let tags: Set<Int> = [256, 257, 274]
    private var seen: Set<Int> = []
    /// Entries that are not numbers are left out.
    private var values: [Int: Int] = [:]

    /// Fails if no directory lies between `start` and `end`.
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
        // Not limited by `count`, which may be too large, but by the data.
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

    /// The value of an entry with an integer type; `nil` for another type, and for a value outside of the
    /// data.
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
            // An entry of a small file has room for four bytes, which are the offset of the eight.
            if !isBig {
                guard let offset = bytes.number(position, size: 4, isLittle: isLittle) else { return nil }
                position = start + offset
            }
        default: return nil
        }
        // A number that needs 64 bits is negative, or larger than in any image.
        guard let value = bytes.number(position, size: size, isLittle: isLittle) else { return nil }
        switch type {
        case 6: return Int(Int8(truncatingIfNeeded: value))
        case 8: return Int(Int16(truncatingIfNeeded: value))
        case 9: return Int(Int32(truncatingIfNeeded: value))
        default: return value
        }
    }
}
