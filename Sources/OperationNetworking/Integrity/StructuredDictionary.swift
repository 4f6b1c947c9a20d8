/// A field value that is a dictionary of [RFC 8941 §3.2](https://www.rfc-editor.org/rfc/rfc8941#section-3.2),
/// as far as digests need it: all of it is parsed, but only byte sequences keep their value.
///
/// | Field value             | Members                                      |
/// |-------------------------|----------------------------------------------|
/// | `a=:AQI=:, b=:AA==:;c`  | `a` with the bytes 1 and 2, `b` with 0       |
/// | `a=1, b, c=(1 2)`       | all three without bytes                      |
/// | `a=:AQI=:, B=1`         | none: one mistake spoils the whole field     |
struct StructuredDictionary: Hashable, Sendable {
    struct Member: Hashable, Sendable {
        let key: String
        /// `nil` for a value of another type.
        let bytes: [UInt8]?
    }

    /// The members, in order. A repeated key, of which RFC 8941 takes the last, is kept each time.
    private(set) var members: [Member] = []

    /// `nil` if there is a mistake anywhere, as §4.2 asks for.
    ///
    /// - Parameter fieldValue: of all lines, joined by commas.
    init?(fieldValue: String) {
        var parser = Parser(octets: Array(fieldValue.utf8))
        do {
            members = try parser.dictionary()
        } catch {
            return nil
        }
    }

    /// The algorithms of [RFC 8941 §4.2](https://www.rfc-editor.org/rfc/rfc8941#section-4.2).
    private struct Parser {
        struct Mistake: Error {}

        let octets: [UInt8]
        var position = 0

        init(octets: [UInt8]) {
            self.octets = octets
        }

        private var next: UInt8? { position < octets.count ? octets[position] : nil }

        // MARK: - §4.2.2: dictionaries

        mutating func dictionary() throws(Mistake) -> [Member] {
            var members: [Member] = []
            skip { $0 == UInt8(ascii: " ") }
            while next != nil {
                members.append(try member())
                skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                if next == nil { break }
                try expect(",")
                skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                // A comma at the end.
                if next == nil { throw Mistake() }
            }
            return members
        }

        private mutating func member() throws(Mistake) -> Member {
            let key = try key()
            var bytes: [UInt8]?
            if take("=") {
                bytes = next == UInt8(ascii: "(") ? try innerList() : try bareItem()
            }
            try parameters()
            return Member(key: key, bytes: bytes)
        }

        /// - Returns: `nil`, since a list is not a byte sequence.
        private mutating func innerList() throws(Mistake) -> [UInt8]? {
            try expect("(")
            while true {
                skip { $0 == UInt8(ascii: " ") }
                if take(")") { return nil }
                _ = try bareItem()
                try parameters()
                guard next == UInt8(ascii: " ") || next == UInt8(ascii: ")") else { throw Mistake() }
            }
        }

        private mutating func parameters() throws(Mistake) {
            while take(";") {
                skip { $0 == UInt8(ascii: " ") }
                _ = try key()
                if take("=") { _ = try bareItem() }
            }
        }

        private mutating func key() throws(Mistake) -> String {
            guard let first = next, first.isLowercaseLetter || first == UInt8(ascii: "*") else {
                throw Mistake()
            }
            return skip { $0.isLowercaseLetter || $0.isASCIIDigit || "_-.*".utf8.contains($0) }
        }

        // MARK: - §4.2.3.1: items

        /// - Returns: the bytes of a byte sequence, `nil` for another type.
        private mutating func bareItem() throws(Mistake) -> [UInt8]? {
            guard let first = next else { throw Mistake() }
            switch first {
            case UInt8(ascii: ":"): return try byteSequence()
            case UInt8(ascii: "\""): try string()
            case UInt8(ascii: "?"): try boolean()
            case UInt8(ascii: "-"): try number()
            case _ where first.isASCIIDigit: try number()
            case _ where first.isLetter || first == UInt8(ascii: "*"):
                skip { $0.isHTTPTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            default: throw Mistake()
            }
            return nil
        }

        private mutating func byteSequence() throws(Mistake) -> [UInt8] {
            try expect(":")
            let text = skip { $0 != UInt8(ascii: ":") }
            try expect(":")
            guard let bytes = [UInt8](base64: text) else { throw Mistake() }
            return bytes
        }

        private mutating func string() throws(Mistake) {
            try expect("\"")
            while !take("\"") {
                guard let octet = next, (0x20...0x7E).contains(octet) else { throw Mistake() }
                position += 1
                guard octet == UInt8(ascii: "\\") else { continue }
                guard take("\"") || take("\\") else { throw Mistake() }
            }
        }

        private mutating func boolean() throws(Mistake) {
            try expect("?")
            guard take("0") || take("1") else { throw Mistake() }
        }

        /// At most 15 digits; of a decimal at most 12, and then one to three.
        private mutating func number() throws(Mistake) {
            _ = take("-")
            let whole = skip { $0.isASCIIDigit }.utf8.count
            guard take(".") else {
                guard (1...15).contains(whole) else { throw Mistake() }
                return
            }
            let fraction = skip { $0.isASCIIDigit }.utf8.count
            guard (1...12).contains(whole), (1...3).contains(fraction) else { throw Mistake() }
        }

        // MARK: - Characters

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard next == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        private mutating func expect(_ character: Unicode.Scalar) throws(Mistake) {
            guard take(character) else { throw Mistake() }
        }

        /// Goes on for as long as octets are such.
        @discardableResult
        private mutating func skip(_ isSuch: (UInt8) -> Bool) -> String {
            let start = position
            while let octet = next, isSuch(octet) { position += 1 }
            return String(decoding: octets[start..<position], as: UTF8.self)
        }
    }
}

extension UInt8 {
    fileprivate var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    fileprivate var isLetter: Bool { (self | 0x20).isLowercaseLetter }
}
