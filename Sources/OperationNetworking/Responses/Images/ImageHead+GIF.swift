extension ImageHead {
    /// Reads the size of the logical screen, and counts blocks up to the second image, which makes the file
    /// an animation ([GIF 89a §18 to §23](https://www.w3.org/Graphics/GIF/spec-gif89a.txt)).
    static func gif(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead {
        guard let width = bytes.little16(6), let height = bytes.little16(8), let flags = bytes.byte(10) else {
            throw .truncated
        }
        var images = 0
        var position: Int? = 13 + colorTableSize(flags)
        while images < 2, let block = position, let kind = bytes.byte(block) {
            switch kind {
            case 0x2C:  // an image
                images += 1
                position = bytes.byte(block + 9).flatMap { flags in
                    endOfSubBlocks(bytes, from: block + 11 + colorTableSize(flags))
                }
            case 0x21:  // an extension
                position = endOfSubBlocks(bytes, from: block + 2)
            default:  // the trailer, or nonsense
                position = nil
            }
        }
        return try ImageHead(.gif, width: width, height: height, isAnimated: images > 1)
    }

    private static func colorTableSize(_ flags: Int) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1)
    }

    private static func endOfSubBlocks(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var position = start
        while let size = bytes.byte(position) {
            position += size + 1
            if size == 0 { return position }
        }
        return nil
    }
}
