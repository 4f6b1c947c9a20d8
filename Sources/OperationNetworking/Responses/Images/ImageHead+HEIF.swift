extension ImageHead {
    /// Reads the size in the properties of the primary item (ISO/IEC 23008-12 §6.5.3). If the primary item is
    /// unknown, the largest size is used.
    static func heif(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead {
        guard let fileType = HEIFBox(bytes, at: 0, end: bytes.count), fileType.end <= bytes.count else {
            throw Malformed("Its file type box exceeds the data.")
        }
        guard let (format, isAnimated) = brands(bytes, fileType) else {
            throw Malformed("It is a container, such as a video, but not of images.")
        }
        guard let meta = try find("meta", in: bytes, from: fileType.end, to: bytes.count) else {
            throw Malformed("It has no metadata box.")
        }
        guard meta.end - meta.content >= 4,
            let properties = try find("iprp", in: bytes, from: meta.content + 4, to: meta.end),
            let container = try find("ipco", in: bytes, from: properties.content, to: properties.end)
        else { throw Malformed("It has no image properties.") }

        let primary = try find("pitm", in: bytes, from: meta.content + 4, to: meta.end).flatMap { box in
            bytes.byte(box.content).flatMap {
                bytes.number(box.content + 4, size: $0 == 0 ? 2 : 4, isLittle: false)
            }
        }
        let associations = try find("ipma", in: bytes, from: properties.content, to: properties.end)
        var wanted: Set<Int> = []
        if let primary, let associations { wanted = indices(of: primary, bytes, associations) }
        return try head(bytes, container, wanted, format, isAnimated)
    }

    /// The index of a property counts from 1 and has 15 bits.
    private static func head(
        _ bytes: Span<UInt8>,
        _ container: HEIFBox,
        _ wanted: Set<Int>,
        _ format: ResponseImage.Format,
        _ isAnimated: Bool
    ) throws(Malformed) -> ImageHead {
        var largest: (width: Int, height: Int)?
        var own: (width: Int, height: Int)?
        var cropped: (width: Int, height: Int)?
        var quarterTurns = 0
        var mirror: Int?
        var index = 1
        var position = container.content
        while index <= 0x7FFF, let box = HEIFBox(bytes, at: position, end: container.end) {
            guard box.end <= container.end else {
                throw Malformed("An image property exceeds its container.")
            }
            if box.isOf("ispe", bytes), box.end - box.content >= 12,
                let width = bytes.big32(box.content + 4), let height = bytes.big32(box.content + 8)
            {
                if wanted.contains(index), own == nil { own = (width, height) }
                // Compared as floating-point numbers: the product of two 32-bit numbers has 64 bits.
                if largest.map({ Double($0.width) * Double($0.height) < Double(width) * Double(height) })
                    ?? true
                {
                    largest = (width, height)
                }
            } else if wanted.contains(index), let value = bytes.byte(box.content) {
                if box.isOf("clap", bytes) { cropped = cleanAperture(bytes, box) }
                if box.isOf("irot", bytes) { quarterTurns = value & 3 }
                if box.isOf("imir", bytes) { mirror = value & 1 }
            }
            position = box.end
            index += 1
        }
        guard var size = own ?? largest else { throw Malformed("Its image properties have no size.") }
        // Encoders pad images to whole blocks, and specify the actual size with a clean aperture.
        if let cropped, cropped.width <= size.width, cropped.height <= size.height { size = cropped }
        return try ImageHead(
            format,
            width: size.width,
            height: size.height,
            orientation: orientation(quarterTurns: quarterTurns, mirror: mirror),
            isAnimated: isAnimated
        )
    }

    /// The size of a clean aperture (ISO/IEC 14496-12 §12.1.4), which is two fractions; `nil` if it is
    /// invalid.
    private static func cleanAperture(_ bytes: Span<UInt8>, _ box: HEIFBox) -> (width: Int, height: Int)? {
        guard let width = bytes.big32(box.content), let widthDivisor = bytes.big32(box.content + 4),
            let height = bytes.big32(box.content + 8), let heightDivisor = bytes.big32(box.content + 12),
            widthDivisor > 0, heightDivisor > 0, width >= widthDivisor, height >= heightDivisor
        else { return nil }
        return (width / widthDivisor, height / heightDivisor)
    }

    /// Turns are counterclockwise. Then axis 0 swaps top and bottom, and axis 1 left and right.
    private static func orientation(quarterTurns: Int, mirror: Int?) -> Int {
        switch mirror {
        case nil: [1, 8, 3, 6][quarterTurns]
        case 0: [4, 5, 2, 7][quarterTurns]
        default: [2, 7, 4, 5][quarterTurns]
        }
    }

    private static func brands(_ bytes: Span<UInt8>, _ box: HEIFBox) -> (ResponseImage.Format, Bool)? {
        var format: ResponseImage.Format?
        var isAnimated = false
        // The major brand, its version, and the compatible brands. The first known brand is used. Files have
        // a dozen of them at most.
        var position = box.content
        while position <= min(box.end, box.content + 1_024) - 4 {
            if bytes.holds("avif", at: position) || bytes.holds("avis", at: position) {
                if format == nil || format == .heif { format = .avif }
            } else if ["heic", "heix", "heim", "heis", "hevc", "hevx"].contains(where: {
                bytes.holds($0, at: position)
            }) {
                if format == nil || format == .heif { format = .heic }
            } else if bytes.holds("mif1", at: position) || bytes.holds("msf1", at: position) {
                if format == nil { format = .heif }
            }
            if position == box.content {
                isAnimated = ["avis", "hevc", "hevx", "msf1"].contains { bytes.holds($0, at: position) }
            }
            position += position == box.content ? 8 : 4
        }
        return format.map { ($0, isAnimated) }
    }

    /// The indices of an item's properties (§9.3).
    private static func indices(of item: Int, _ bytes: Span<UInt8>, _ box: HEIFBox) -> Set<Int> {
        guard let version = bytes.byte(box.content), let flags = bytes.byte(box.content + 3),
            var left = bytes.big32(box.content + 4)
        else { return [] }
        let identifierSize = version == 0 ? 2 : 4
        let indexSize = flags & 1 == 0 ? 1 : 2
        var position = box.content + 8
        while left > 0, position < box.end,
            let identifier = bytes.number(position, size: identifierSize, isLittle: false),
            let count = bytes.byte(position + identifierSize)
        {
            position += identifierSize + 1
            if identifier == item {
                let indices = (0..<count).compactMap { association in
                    bytes.number(position + association * indexSize, size: indexSize, isLittle: false)
                }
                return Set(indices.map { $0 & (indexSize == 1 ? 0x7F : 0x7FFF) })
            }
            position += count * indexSize
            left -= 1
        }
        return []
    }

    /// The first box of a type between two positions.
    private static func find(
        _ type: String,
        in bytes: Span<UInt8>,
        from start: Int,
        to end: Int
    ) throws(Malformed) -> HEIFBox? {
        var position = start
        while let box = HEIFBox(bytes, at: position, end: end) {
            if box.isOf(type, bytes) {
                guard box.end <= end else { throw .truncated }
                return box
            }
            position = box.end
        }
        return nil
    }
}

/// The range of a box (ISO/IEC 14496-12 §4.2). Its end may lie outside of the data.
private struct HEIFBox {
    let type: Int
    let content: Int
    let end: Int

    /// Fails if the position has no box, or its length is less than that of its header.
    init?(_ bytes: Span<UInt8>, at position: Int, end limit: Int) {
        guard position <= limit - 8, let length = bytes.big32(position) else { return nil }
        type = position + 4
        switch length {
        case 0:  // up to the end
            content = position + 8
            end = limit
        case 1:
            guard position <= limit - 16,
                let length = bytes.number(position + 8, size: 8, isLittle: false),
                length >= 16, length <= Int.max - position
            else { return nil }
            content = position + 16
            end = position + length
        default:
            guard length >= 8 else { return nil }
            content = position + 8
            end = position + length
        }
    }

    func isOf(_ type: String, _ bytes: Span<UInt8>) -> Bool { bytes.holds(type, at: self.type) }
}
