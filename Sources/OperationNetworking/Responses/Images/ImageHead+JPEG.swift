extension ImageHead {
    /// Follows the markers up to the frame header, which has the size ([ITU T.81
    /// §B.1.1](https://www.w3.org/Graphics/JPEG/itu-t81.pdf)). Like decoders, it skips bytes between
    /// segments.
    static func jpeg(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead {
        var orientation: Int?
        var position = 2
        while position < bytes.count {
            guard bytes[position] == 0xFF else {
                position += 1
                continue
            }
            guard let marker = bytes.byte(position + 1) else { break }
            switch marker {
            case 0xFF:  // a fill byte
                position += 1
            case 0x00, 0x01, 0xD0...0xD7:  // no marker, and those without a segment
                position += 2
            case 0xC4, 0xC8, 0xCC, 0x02...0xBF, 0xDB...0xFE:  // tables, application data, comments
                let length = try segmentLength(bytes, at: position)
                if marker == 0xE1, orientation == nil, bytes.holds("Exif\0\0", at: position + 4) {
                    orientation = exifOrientation(bytes, from: position + 10, length: length - 8)
                }
                position += 2 + length
            case 0xC0...0xCF:
                guard try segmentLength(bytes, at: position) >= 8 else {
                    throw Malformed("Its frame header is too short.")
                }
                guard let height = bytes.big16(position + 5), let width = bytes.big16(position + 7) else {
                    throw .truncated
                }
                return try ImageHead(.jpeg, width: width, height: height, orientation: orientation ?? 1)
            default:  // another start, the end, or the pixels
                throw Malformed("It has no frame header before byte \(position).")
            }
        }
        throw .truncated
    }

    private static func segmentLength(_ bytes: Span<UInt8>, at position: Int) throws(Malformed) -> Int {
        guard let length = bytes.big16(position + 2) else { throw .truncated }
        guard length >= 2 else { throw Malformed("The segment at byte \(position) has \(length) bytes.") }
        return length
    }
}
