internal import Foundation

/// The properties of an image, read from its first bytes.
///
/// Every reader moves forward only, visits each byte a fixed number of times at most, and keeps only numbers.
/// So the time is linear in the size of the data, whatever the data claims.
struct ImageHead: Hashable, Sendable {
    /// A sentence that says why the bytes are not an image.
    struct Malformed: Error, Hashable {
        let sentence: String

        init(_ sentence: String) { self.sentence = sentence }
    }

    let format: ResponseImage.Format
    let width: Int
    let height: Int
    private(set) var orientation = 1
    private(set) var isAnimated = false

    init(of data: Data) throws(Malformed) {
        try self.init(bytes: data.span)
    }

    private init(bytes: Span<UInt8>) throws(Malformed) {
        if bytes.holds([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = try .png(bytes)
        } else if bytes.holds([0xFF, 0xD8, 0xFF]) {
            self = try .jpeg(bytes)
        } else if bytes.holds("GIF87a") || bytes.holds("GIF89a") {
            self = try .gif(bytes)
        } else if bytes.holds("RIFF"), bytes.holds("WEBP", at: 8) {
            self = try .webp(bytes)
        } else if bytes.holds("II*\0") || bytes.holds("MM\0*") || bytes.holds("II+\0") || bytes.holds("MM\0+")
        {
            self = try .tiff(bytes)
        } else if bytes.holds("ftyp", at: 4) {
            self = try .heif(bytes)
        } else if bytes.holds([0, 0, 1, 0]) || bytes.holds([0, 0, 2, 0]) {
            self = try .icon(bytes)
        } else if bytes.holds("BM") {
            self = try .bmp(bytes)
        } else if let xbm = try ImageHead.xbm(bytes) {
            self = xbm
        } else {
            throw Malformed("It begins with \(bytes.beginning), unlike any known image format.")
        }
    }

    /// - Throws: if the image has no pixels.
    init(
        _ format: ResponseImage.Format,
        width: Int,
        height: Int,
        orientation: Int = 1,
        isAnimated: Bool = false
    ) throws(Malformed) {
        guard width > 0, height > 0 else { throw Malformed("Its size is \(width) x \(height) pixels.") }
        self.format = format
        self.width = width
        self.height = height
        self.orientation = orientation
        self.isAnimated = isAnimated
    }
}

// MARK: - Reading numbers

/// Reads numbers at positions that the data specifies. Outside of the data, the result is `nil` instead of a
/// trap.
///
/// Numbers have at most 63 bits, and a position is at most `count` plus 32 bits before it is checked. So sums
/// do not overflow.
extension Span<UInt8> {
    func byte(_ position: Int) -> Int? {
        position >= 0 && position < count ? Int(self[position]) : nil
    }

    /// An unsigned number of `size` bytes; `nil` outside of the data, and for numbers that need 64 bits.
    func number(_ position: Int, size: Int, isLittle: Bool) -> Int? {
        guard position >= 0, size > 0, position <= count - size else { return nil }
        var number: UInt64 = 0
        for index in 0..<size {
            number = number << 8 | UInt64(self[isLittle ? position + size - 1 - index : position + index])
        }
        return Int(exactly: number)
    }

    func big16(_ position: Int) -> Int? { number(position, size: 2, isLittle: false) }
    func big32(_ position: Int) -> Int? { number(position, size: 4, isLittle: false) }
    func little16(_ position: Int) -> Int? { number(position, size: 2, isLittle: true) }
    func little24(_ position: Int) -> Int? { number(position, size: 3, isLittle: true) }
    func little32(_ position: Int) -> Int? { number(position, size: 4, isLittle: true) }

    func holds(_ text: String, at position: Int = 0) -> Bool { has(text, at: position) }

    func holds(_ other: [UInt8], at position: Int = 0) -> Bool { holds(other[...], at: position) }

    private func holds(_ other: some Collection<UInt8>, at start: Int) -> Bool {
        guard start >= 0, start <= count - other.count else { return false }
        var position = start
        for byte in other {
            guard self[position] == byte else { return false }
            position += 1
        }
        return true
    }

    /// The first bytes in hexadecimal.
    var beginning: String {
        guard count > 0 else { return "nothing" }
        return (0..<Swift.min(count, 8)).map { position in
            let digits = String(self[position], radix: 16, uppercase: true)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined(separator: " ")
    }
}

extension ImageHead.Malformed {
    static let truncated = ImageHead.Malformed("It ends before its size.")
}
