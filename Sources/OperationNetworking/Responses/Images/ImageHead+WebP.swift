extension ImageHead {
    /// Reads the size in the first chunk, which has one of three types ([RFC 9649
    /// §2](https://www.rfc-editor.org/rfc/rfc9649#section-2)).
    static func webp(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead {
        if bytes.holds("VP8 ", at: 12) {
            guard let width = bytes.little16(26), let height = bytes.little16(28) else { throw .truncated }
            guard bytes[20] & 1 == 0, bytes.holds([0x9D, 0x01, 0x2A], at: 23) else {
                throw Malformed("It does not begin with a key frame.")
            }
            return try ImageHead(.webp, width: width & 0x3FFF, height: height & 0x3FFF)
        }
        if bytes.holds("VP8L", at: 12) {
            guard let bits = bytes.little32(21) else { throw .truncated }
            guard bytes[20] == 0x2F else { throw Malformed("Its lossless data has no signature.") }
            return try ImageHead(.webp, width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        }
        guard bytes.holds("VP8X", at: 12) else {
            throw bytes.count < 16 ? .truncated : Malformed("Its first chunk has no size.")
        }
        guard let flags = bytes.byte(20), let width = bytes.little24(24), let height = bytes.little24(27)
        else {
            throw .truncated
        }
        guard (width + 1) * (height + 1) <= Int(UInt32.max) else {
            throw Malformed("Its size is \(width + 1) x \(height + 1) pixels, more than a WebP can have.")
        }
        return try ImageHead(
            .webp,
            width: width + 1,
            height: height + 1,
            orientation: flags & 0x08 == 0 ? 1 : webpOrientation(bytes),
            isAnimated: flags & 0x02 != 0
        )
    }

    /// The metadata follows the pixels.
    private static func webpOrientation(_ bytes: Span<UInt8>) -> Int {
        var position = 12
        while let length = bytes.little32(position + 4) {
            if bytes.holds("EXIF", at: position) {
                let hasPrefix = bytes.holds("Exif\0\0", at: position + 8)
                let skipped = hasPrefix ? 6 : 0
                return exifOrientation(bytes, from: position + 8 + skipped, length: length - skipped)
            }
            position += 8 + length + length & 1
        }
        return 1
    }
}
