internal import Foundation
internal import OperationNetworkingImagesSystem

/// Detects truncated images by a missing end. For some formats, decoders would decode a truncated image, with
/// arbitrary pixels in place of the rest.
///
/// | Format                 | End                                                                  |
/// |------------------------|----------------------------------------------------------------------|
/// | PNG                    | the `IEND` chunk, found by following the chunks                      |
/// | JPEG                   | the `EOI` marker after a scan, found by following segments and scans |
/// | WebP                   | the length in its RIFF header                                        |
/// | BMP                    | the last row                                                         |
/// | run-length encoded BMP | not checked                                                          |
/// | GIF, TIFF              | checked by the decoder                                               |
/// | ICO                    | checked when the head is read, by the lengths in the directory       |
///
/// Bytes after the end are ignored. Takes linear time.
enum ImageEnd {
    static func isPresent(in data: Data, of format: DecoderFormat) -> Bool {
        let bytes = data.span
        return switch format {
        case .png: hasEndOfPNG(bytes)
        case .jpeg: hasEndOfJPEG(bytes)
        case .webp: number(bytes, 4, size: 4).map { $0 + 8 <= bytes.count } ?? false
        case .bmp: hasRowsOfBitmap(bytes)
        case .gif, .tiff, .ico: true
        }
    }

    /// A chunk consists of its length, its type, its data and a checksum.
    private static func hasEndOfPNG(_ bytes: Span<UInt8>) -> Bool {
        var position = 8
        while let type = number(bytes, position + 4, size: 4, isLittle: false),
            let length = number(bytes, position, size: 4, isLittle: false)
        {
            position += length + 12
            if type == 0x4945_4E44 { return position <= bytes.count }  // "IEND"
        }
        return false
    }

    /// An `EOI` counts only in the position of a marker, and after a scan: not that of a thumbnail in a
    /// segment.
    private static func hasEndOfJPEG(_ bytes: Span<UInt8>) -> Bool {
        var hasScan = false
        var position = 2
        while position + 1 < bytes.count {
            // Entropy-coded data of a scan, where 0xFF is followed by 0, and stray bytes.
            guard bytes[position] == 0xFF else {
                position += 1
                continue
            }
            switch bytes[position + 1] {
            case 0xFF: position += 1  // a fill byte
            case 0x00, 0x01, 0xD0...0xD8: position += 2  // markers without a segment
            case 0xD9:
                if hasScan { return true }
                position += 2
            case let marker:
                guard let length = number(bytes, position + 2, size: 2, isLittle: false) else { return false }
                if marker == 0xDA { hasScan = true }
                position += 2 + max(2, length)
            }
        }
        return false
    }

    /// Rows are padded to 32 bits. Decoders omit the last row if its padding is missing.
    private static func hasRowsOfBitmap(_ bytes: Span<UInt8>) -> Bool {
        guard let offset = number(bytes, 10, size: 4), let headerSize = number(bytes, 14, size: 4) else {
            return false
        }
        let isOld = headerSize == 12
        let size = isOld ? 2 : 4
        guard let width = number(bytes, 18, size: size), let height = number(bytes, 18 + size, size: size),
            let depth = number(bytes, isOld ? 24 : 28, size: 2)
        else { return false }
        // 1 and 2 are run-length encodings; 4 and 5 (JPEG and PNG) are not supported by any decoder.
        if headerSize >= 20 {
            guard let compression = number(bytes, 30, size: 4) else { return false }
            guard [0, 3, 6].contains(compression) else { return true }
        }
        // A negative height means top-down rows.
        let rows = isOld ? height : abs(Int(Int32(truncatingIfNeeded: height)))
        let (count, isOver) = ((width * depth + 31) / 32 * 4).multipliedReportingOverflow(by: rows)
        return !isOver && count <= bytes.count - max(offset, 14 + headerSize)
    }

    /// Reads an unsigned number of up to four bytes; `nil` if it is outside of the data.
    private static func number(
        _ bytes: Span<UInt8>,
        _ position: Int,
        size: Int,
        isLittle: Bool = true
    ) -> Int? {
        guard position <= bytes.count - size else { return nil }
        var number = 0
        for index in 0..<size {
            number = number << 8 | Int(bytes[isLittle ? position + size - 1 - index : position + index])
        }
        return number
    }
}
