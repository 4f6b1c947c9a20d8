internal import Foundation
internal import OperationNetworkingSystem

/// The character set named by a `charset` parameter. Every set that iconv(3) knows is supported (`iconv -l`).
///
/// | Named                                            | Decoded as                                          |
/// |--------------------------------------------------|-----------------------------------------------------|
/// | `gb2312`, `gbk`                                  | GB 18030                                            |
/// | `shift_jis`, `windows-31j`                       | windows-31j, which keeps the backslash              |
/// | `euc-jp`                                         | the variant with NEC's and IBM's characters         |
/// | `euc-kr`, `ks_c_5601-1987`                       | windows-949                                         |
/// | `big5`                                           | Big5-HKSCS                                          |
/// | `tis-620`, `iso-8859-11`                         | windows-874                                         |
/// | `utf-16`, `utf-32`                               | by the byte order mark; big-endian without (RFC 2781) |
/// | a name with `x-` that iconv(3) knows without it  | the set without `x-`                                |
/// | all others                                       | as named                                            |
///
/// The larger set is what servers send under the name of the smaller one, and what browsers read ([Encoding
/// Standard](https://encoding.spec.whatwg.org/#names-and-labels)). `us-ascii`, `iso-8859-1` and `iso-8859-9`
/// are exceptions: browsers read them as Windows code pages, which would change control characters and reject
/// octets that are valid here.
struct NamedCharacterSet: Hashable, Sendable {
    static let utf8 = NamedCharacterSet(decoderName: "utf-8")

    /// The nearest encoding of Foundation; `nil` if Foundation has no constant for the set.
    let encoding: String.Encoding?
    /// The name under which iconv(3) decodes the set.
    private let decoderName: String

    /// Fails for an unknown name.
    init?(name: String) {
        let name = name.lowercased()
        let plain = name.hasPrefix("x-") ? String(name.dropFirst(2)) : name
        switch Self.widerSets[plain] ?? plain {
        case "utf-8", "utf8": self = .utf8
        case let known where Self.isKnown(known):
            decoderName = known
            encoding = known == "cp932" ? .shiftJIS : String.Encoding(ianaName: plain)
        default: return nil
        }
    }

    private init(decoderName: String) {
        self.decoderName = decoderName
        encoding = String.Encoding(ianaName: decoderName)
    }

    /// The set that the first octets of a text reveal: by a byte order mark, or by the zeros that UTF-16 and
    /// UTF-32 have beside an ASCII character, with which JSON and XML begin.
    init?(beginningOf text: Data) {
        let octets = text.span
        let count = octets.count
        switch (
            count > 0 ? octets[0] : 1, count > 1 ? octets[1] : 1, count > 2 ? octets[2] : 1,
            count > 3 ? octets[3] : 1
        ) {
        case (0xEF, 0xBB, 0xBF, _): self = .utf8
        case (0x00, 0x00, 0xFE, 0xFF), (0xFF, 0xFE, 0x00, 0x00): self.init(decoderName: "utf-32")
        case (0xFE, 0xFF, _, _), (0xFF, 0xFE, _, _): self.init(decoderName: "utf-16")
        case (0x00, 0x00, 0x00, _): self.init(decoderName: "utf-32be")
        case (_, 0x00, 0x00, 0x00): self.init(decoderName: "utf-32le")
        case (0x00, _, 0x00, _): self.init(decoderName: "utf-16be")
        case (_, 0x00, _, 0x00): self.init(decoderName: "utf-16le")
        default: return nil
        }
    }

    /// Returns the text without its byte order mark; `nil` if the octets are not text in this set, or end
    /// within a character.
    func decode(_ octets: Data) -> String? {
        let text =
            if self == .utf8 {
                String(validating: octets, as: UTF8.self)
            } else {
                TextDecoder(characterSet: decoderName(for: octets))?.decode(octets.span)
            }
        guard let text, text.unicodeScalars.first == "\u{FEFF}" else { return text }
        return String(text.unicodeScalars.dropFirst())
    }

    // MARK: - Private

    /// Names the byte order: glibc reads UTF-16 without a mark in the byte order of this machine.
    private func decoderName(for octets: Data) -> String {
        let mark: [UInt8] = [0xFE, 0xFF]
        let swapped: [UInt8] = [0xFF, 0xFE]
        switch decoderName {
        case "utf-16", "utf16":
            return octets.starts(with: mark) || octets.starts(with: swapped) ? decoderName : "utf-16be"
        case "utf-32", "utf32":
            return octets.starts(with: [0, 0] + mark) || octets.starts(with: swapped + [0, 0])
                ? decoderName : "utf-32be"
        default:
            return decoderName
        }
    }

    private static func isKnown(_ name: String) -> Bool {
        if TextDecoder(characterSet: name) == nil { false } else { true }
    }

    private static let widerSets = [
        "gb2312": "gb18030", "gb_2312-80": "gb18030", "gbk": "gb18030",
        "big5": "big5-hkscs", "x-big5": "big5-hkscs",
        "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "ms_kanji": "cp932",
        "windows-31j": "cp932",
        "euc-jp": "euc-jp-ms", "eucjp": "euc-jp-ms",
        "euc-kr": "uhc", "ks_c_5601-1987": "uhc", "ks_c_5601-1989": "uhc", "ksc5601": "uhc", "korean": "uhc",
        "windows-949": "uhc",
        "tis-620": "cp874", "iso-8859-11": "cp874", "windows-874": "cp874",
        // Names that iconv(3) does not know.
        "iso-8859-8-i": "iso-8859-8", "mac-roman": "macintosh", "unicode-1-1-utf-8": "utf-8",
    ]
}

/// A body as text, in the character set that the response names.
struct ResponseText: Hashable, Sendable {
    /// The nearest encoding of Foundation. UTF-8 if the response names no character set, one that this system
    /// does not know, or one without a constant in Foundation.
    let encoding: String.Encoding
    /// `nil` if the response has no body, or the body is not text in its character set, which is UTF-8 if the
    /// response names none or an unknown one.
    let string: String?

    init(data: Data?, response: ReceivedResponse?) {
        let set = response?.charset.flatMap(NamedCharacterSet.init(name:)) ?? .utf8
        encoding = set.encoding ?? .utf8
        string = data.flatMap(set.decode)
    }
}

extension Data {
    /// Returns a JSON or XML body in UTF-8 without a byte order mark, so that the scanner and the parser see
    /// the same characters. `nil` if the body is not text in its character set.
    ///
    /// The character set is the one that the first octets reveal, then the named one, then UTF-8. UTF-8 is
    /// not validated here. The result has no zero among its first four octets, which parsers would take for
    /// UTF-16.
    func asUTF8(charset: String?) -> Data? {
        let set =
            NamedCharacterSet(beginningOf: self) ?? charset.flatMap(NamedCharacterSet.init(name:)) ?? .utf8
        let text: Data?
        if set == .utf8 {
            text = span.has("\u{FEFF}") ? Data(dropFirst(3)) : self
        } else {
            text = set.decode(self).map { Data($0.utf8) }
        }
        return text.flatMap { text in
            let first = text.span.extracting(..<Swift.min(4, text.count))
            return first.range(from: 0, while: { $0 != 0 }).count < first.count ? nil : text
        }
    }
}
