extension ImageHead {
    /// Reads the size in a bitmap's second header; a negative height means that rows go downwards. The header
    /// of OS/2 1 has 12 bytes and 16-bit numbers; all later ones begin like that of OS/2 2.
    static func bmp(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead {
        guard let headerSize = bytes.little32(14) else { throw .truncated }
        if headerSize == 12 {
            guard let width = bytes.little16(18), let height = bytes.little16(20) else { throw .truncated }
            return try ImageHead(.bmp, width: width, height: height)
        }
        guard (16...124).contains(headerSize) else {
            throw Malformed(
                "Its header claims \(headerSize) bytes, which is not the size of a bitmap header."
            )
        }
        guard let width = bytes.little32(18), let height = bytes.little32(22) else { throw .truncated }
        let signedWidth = Int(Int32(truncatingIfNeeded: width))
        let signedHeight = Int(Int32(truncatingIfNeeded: height))
        return try ImageHead(.bmp, width: signedWidth, height: abs(signedHeight))
    }

    /// Reads the sizes of the images in the directory of an icon or cursor; 0 means 256.
    static func icon(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead {
        guard let kind = bytes.little16(2), let count = bytes.little16(4) else { throw .truncated }
        guard count > 0 else { throw Malformed("It is an icon without images.") }
        guard bytes.count >= 6 + 16 * count else { throw .truncated }
        var largest = (width: 0, height: 0)
        for entry in 0..<count {
            let position = 6 + 16 * entry
            guard let size = bytes.little32(position + 8), let offset = bytes.little32(position + 12) else {
                throw .truncated
            }
            guard size > 0, offset >= 6 + 16 * count, offset + size <= bytes.count else {
                throw Malformed("Its image \(entry + 1) of \(count) lies outside of the data.")
            }
            let width = bytes[position] == 0 ? 256 : Int(bytes[position])
            let height = bytes[position + 1] == 0 ? 256 : Int(bytes[position + 1])
            if width * height > largest.width * largest.height { largest = (width, height) }
        }
        return try ImageHead(kind == 1 ? .ico : .cur, width: largest.width, height: largest.height)
    }
}
