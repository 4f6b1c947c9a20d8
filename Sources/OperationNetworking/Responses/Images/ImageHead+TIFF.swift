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
private struct TIFFDirectory {
    var width: Int?
    var height: Int?
    /// 1 to 8.
    var orientation: Int?

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
        while left > 0, entry <= end - entrySize, width == nil || height == nil || orientation == nil {
            read(bytes, at: entry, valueOffset: isBig ? 12 : 8, isLittle: isLittle)
            entry += entrySize
            left -= 1
        }
    }

    private mutating func read(_ bytes: Span<UInt8>, at entry: Int, valueOffset: Int, isLittle: Bool) {
        let size: Int
        switch bytes.number(entry + 2, size: 2, isLittle: isLittle) {
        case 1: size = 1
        case 3: size = 2
        case 4: size = 4
        case 16 where valueOffset == 12: size = 8
        default: return
        }
        guard let value = bytes.number(entry + valueOffset, size: size, isLittle: isLittle) else { return }
        switch bytes.number(entry, size: 2, isLittle: isLittle) {
        case 256: width = width ?? value
        case 257: height = height ?? value
        case 274 where (1...8).contains(value): orientation = orientation ?? value
        default: return
        }
    }
}
