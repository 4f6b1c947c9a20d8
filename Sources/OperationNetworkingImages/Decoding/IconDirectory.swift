internal import Foundation

/// The largest image in the directory of a Windows icon.
///
/// Decoders differ in which image of an icon they choose, and gdk-pixbuf's does not support PNG in icons. So
/// each decoder gets an icon with one image, or the PNG itself.
struct IconDirectory {
    /// The position and the head of the chosen image.
    let image: Range<Int>
    /// The image's directory entry without its offset.
    private let line: Data

    /// - Returns: `nil` if the data contains no image.
    init?(_ data: Data) {
        let bytes = [UInt8](data.prefix(6 + 16 * 65_535))
        func number(_ position: Int, _ size: Int) -> Int {
            (0..<size).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
        }
        guard bytes.count >= 6, number(0, 4) == 0x10000 else { return nil }
        var best: (area: Int, depth: Int, position: Int, range: Range<Int>)?
        for entry in 0..<number(4, 2) {
            let position = 6 + 16 * entry
            guard position + 16 <= bytes.count else { break }
            let size = number(position + 8, 4)
            let offset = number(position + 12, 4)
            guard size > 0, offset + size <= data.count else { continue }
            let width = bytes[position] == 0 ? 256 : Int(bytes[position])
            let height = bytes[position + 1] == 0 ? 256 : Int(bytes[position + 1])
            let candidate = (width * height, number(position + 6, 2), position, offset..<offset + size)
            if best.map({ ($0.area, $0.depth) < (candidate.0, candidate.1) }) ?? true { best = candidate }
        }
        guard let best else { return nil }
        image = best.range
        line = Data(bytes[best.position..<best.position + 12])
    }

    /// Returns the bytes of the chosen image.
    func bytes(of data: Data) -> Data {
        data.dropFirst(image.lowerBound).prefix(image.count)
    }

    /// Returns an icon with only the chosen image.
    func icon(of data: Data) -> Data {
        Data([0, 0, 1, 0, 1, 0]) + line + Data([22, 0, 0, 0]) + bytes(of: data)
    }
}
