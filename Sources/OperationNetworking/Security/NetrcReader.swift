/// Reads the words of a netrc file, and makes entries of them.
struct NetrcReader {
    let bytes: [UInt8]
    private var position = 0
    private var line = 1
    /// The first line with a name or a password that is not UTF-8.
    private(set) var brokenLine: Int?

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func entries() throws(NetrcError) -> [NetrcFile.Entry] {
        var entries: [NetrcFile.Entry] = []
        while skipToWord() {
            if bytes[position] == UInt8(ascii: "#"), isAtStartOfLine {
                skipLine()
                continue
            }
            switch try word().text {
            case "machine":
                entries.append(NetrcFile.Entry(host: try value()))
            case "default":
                entries.append(NetrcFile.Entry())
            case "login", "user":
                let login = try value()
                if let last = entries.indices.last { entries[last].login = login }
            case "password", "passwd":
                let password = try value()
                if let last = entries.indices.last { entries[last].password = password }
            case "account":
                _ = try rawValue()
            case "macdef":
                skipMacro()
            default:
                break
            }
        }
        return entries
    }

    // MARK: - Words

    /// - Returns: whether there is one.
    private mutating func skipToWord() -> Bool {
        while position < bytes.count, Self.isSpace(bytes[position]) { step() }
        return position < bytes.count
    }

    /// A word, and whether it was UTF-8.
    private typealias Word = (text: String, isText: Bool)

    private mutating func value() throws(NetrcError) -> String {
        let (text, isText) = try rawValue()
        if !isText { brokenLine = brokenLine ?? line }
        return text
    }

    private mutating func rawValue() throws(NetrcError) -> Word {
        let begin = line
        guard skipToWord() else { throw .malformed(line: begin) }
        return try word()
    }

    private mutating func word() throws(NetrcError) -> Word {
        if bytes[position] == UInt8(ascii: "\"") { return try quotedWord() }
        let start = position
        while position < bytes.count, !Self.isSpace(bytes[position]) { position += 1 }
        return Self.decoded(bytes[start..<position])
    }

    private static func decoded(_ octets: some Collection<UInt8>) -> Word {
        let text = String(validating: octets, as: UTF8.self)
        return (text ?? String(decoding: octets, as: UTF8.self), text != nil)
    }

    private mutating func quotedWord() throws(NetrcError) -> Word {
        let begin = line
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            step()
            if byte == UInt8(ascii: "\"") { return Self.decoded(text) }
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                text.append(Self.meaning(ofQuoted: bytes[position]))
                step()
            } else {
                text.append(byte)
            }
        }
        throw .malformed(line: begin)
    }

    /// As in curl.
    private static func meaning(ofQuoted byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        default: byte
        }
    }

    // MARK: - Lines

    private var isAtStartOfLine: Bool {
        bytes[..<position].last { $0 != 0x20 && $0 != 0x09 }.map { $0 == UInt8(ascii: "\n") } ?? true
    }

    private mutating func skipLine() {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
    }

    /// The definition of a macro ends with an empty line, or with the file.
    private mutating func skipMacro() {
        skipLine()
        while position < bytes.count {
            step()
            let start = position
            skipLine()
            if bytes[start..<position].allSatisfy({ $0 == UInt8(ascii: "\r") }) { return }
        }
    }

    private mutating func step() {
        if bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
