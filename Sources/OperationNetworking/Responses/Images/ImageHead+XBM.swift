extension ImageHead {
    /// Reads two C definitions before the first brace, whose names end in `width` and `height`. Returns `nil`
    /// if the text does not begin with a definition, perhaps after comments.
    static func xbm(_ bytes: Span<UInt8>) throws(Malformed) -> ImageHead? {
        var words = words(bytes)[...]
        guard words.first == "#define" else { return nil }
        var width: Int?
        var height: Int?
        while let word = words.popFirst(), !word.contains("{") {
            guard word == "#define", let name = words.popFirst() else { continue }
            if name == "width" || name.hasSuffix("_width") { width = try number(words.popFirst()) }
            if name == "height" || name.hasSuffix("_height") { height = try number(words.popFirst()) }
            if let width, let height { return try ImageHead(.xbm, width: width, height: height) }
        }
        throw Malformed("It is text with definitions, but without a width and a height.")
    }

    private static func number(_ word: String?) throws(Malformed) -> Int {
        guard let word, let number = Int32(word) else { throw Malformed("One of its sizes is not a number.") }
        return Int(number)
    }

    /// The words in the first 16 KiB, without white space and comments.
    private static func words(_ bytes: Span<UInt8>) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var isComment = false
        var position = 0
        while position < min(bytes.count, 16_384) {
            let byte = bytes[position]
            if isComment, bytes.holds("*/", at: position) {
                isComment = false
                position += 1
            } else if !isComment, bytes.holds("/*", at: position) {
                isComment = true
            } else if !isComment, !isSpace(byte) {
                word.append(byte)
                position += 1
                // Most texts are not XBM, and the first word shows that.
                if words.isEmpty, word.count > "#define".utf8.count { return [] }
                continue
            }
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
            word = []
            position += 1
        }
        return words
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
