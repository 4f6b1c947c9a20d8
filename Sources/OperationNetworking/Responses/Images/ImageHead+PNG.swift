extension ImageHead {
    /// Reads the size in the `IHDR` chunk, and frames and orientation in the chunks before the pixels ([PNG
    /// §11](https://www.w3.org/TR/png-3/#11Chunks)).
    static func png(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead {
        guard bytes.count >= 33, let width = bytes.big32(16), let height = bytes.big32(20) else {
            throw .truncated
        }
        guard bytes.big32(8) == 13, bytes.holds("IHDR", at: 12) else {
            throw Malformed("Its first chunk is not a PNG header.")
        }
        guard width <= Int(Int32.max), height <= Int(Int32.max) else {
            throw Malformed("Its size is \(width) x \(height) pixels, more than a PNG can have.")
        }
        var isAnimated = false
        var orientation = 1
        var position = 33
        while let length = bytes.big32(position), !bytes.holds("IDAT", at: position + 4) {
            if bytes.holds("acTL", at: position + 4), let frames = bytes.big32(position + 8) {
                isAnimated = frames > 1
            } else if bytes.holds("eXIf", at: position + 4) {
                orientation = exifOrientation(bytes, from: position + 8, length: length)
            }
            position += length + 12
        }
        return try ImageHead(
            .png,
            width: width,
            height: height,
            orientation: orientation,
            isAnimated: isAnimated
        )
    }
}
