/// Takes the texts and numbers out of JSON whose names tell that they are secret. What is no JSON is searched
/// for the same: a text in quotation marks, a colon, and a text or a number. Time grows with the length.
struct JSONSecrets {
    private let bytes: [UInt8]
    private let mark: [UInt8]
    private let isSecret: (String) -> Bool
    private var result: [UInt8] = []
    /// The position of the first byte that is not in ``result``.
    private var copied = 0

    init(_ bytes: [UInt8], mark: [UInt8], isSecret: @escaping (String) -> Bool) {
        self.bytes = bytes
        self.mark = mark
        self.isSecret = isSecret
        result.reserveCapacity(bytes.count)
    }

    mutating func redacted() -> [UInt8] {
        var position = 0
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "\"")),
            let end = endOfText(start)
        {
            guard let value = value(after: end) else {
                // Not the byte behind it: in broken JSON the end of one text may be the beginning of another.
                // A quotation mark within the text has the same end, so it is no name either.
                position = end
                continue
            }
            if isSecret(String(decoding: bytes[start + 1..<end], as: UTF8.self)) {
                result += bytes[copied..<value.lowerBound]
                result.append(UInt8(ascii: "\""))
                result += mark
                result.append(UInt8(ascii: "\""))
                copied = value.upperBound
            }
            position = value.upperBound
        }
        result += bytes[copied...]
        return result
    }

    /// The position of the quotation mark that ends the text; `nil`: none does.
    private func endOfText(_ start: Int) -> Int? {
        var position = start + 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return position < bytes.count ? position : nil
    }

    /// The text or number behind the name that ends there.
    private func value(after end: Int) -> Range<Int>? {
        let colon = skippingSpace(end + 1)
        guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let start = skippingSpace(colon + 1)
        guard start < bytes.count else { return nil }
        if bytes[start] == UInt8(ascii: "\"") { return endOfText(start).map { start..<$0 + 1 } }
        let end = bytes[start...].firstIndex { !Self.numberBytes.contains($0) } ?? bytes.count
        return end > start ? start..<end : nil
    }

    private static let numberBytes = Set("-+.0123456789eE".utf8)

    private func skippingSpace(_ start: Int) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { ![0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D].contains($0) }
            ?? bytes.count
    }
}
