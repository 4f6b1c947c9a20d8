internal import Foundation
internal import OperationNetworkingSystem

/// The character set that a `charset` parameter names.
///
/// Octets are decoded by iconv(3), so every name is known that `iconv -l` lists, besides the labels of the
/// [Encoding Standard](https://encoding.spec.whatwg.org/#names-and-labels) for the sets below. UTF-8, UTF-16,
/// UTF-32, ASCII and ISO-8859-1 are decoded without it.
///
/// | Named                                | Decoded as                                          |
/// |--------------------------------------|-----------------------------------------------------|
/// | `gb2312`, `gbk`                      | GB 18030                                            |
/// | `shift_jis`                          | windows-31j, where a backslash is a backslash       |
/// | `euc-jp`                             | its variant with NEC's and IBM's characters         |
/// | `euc-kr`, `ks_c_5601-1987`           | windows-949                                         |
/// | `big5`                               | Big5-HKSCS                                          |
/// | `tis-620`, `iso-8859-11`             | windows-874                                         |
/// | `utf-16`, `utf-32`                   | by the byte order mark, else big-endian (RFC 2781)  |
/// | all others                           | as named                                            |
///
/// The bigger set is what servers send under the name of the smaller one, and browsers read. Not so for
/// `us-ascii`, `iso-8859-1` and `iso-8859-9`, which browsers read as windows code pages: these would change
/// control characters, and refuse octets that are valid here.
struct NamedCharacterSet: Hashable, Sendable {
    /// The nearest of Foundation's encodings; `nil` for a set that only iconv(3) knows.
    let encoding: String.Encoding?
    /// The name, for iconv(3), of the set that is decoded.
    private let decoderName: String

    /// `nil` for an unknown name.
    init?(name: String) {
        let name = name.lowercased()
        if let row = NamedCharacterSet.table[name] {
            encoding = row.encoding
            decoderName = row.decoderName ?? name
        } else if TextDecoder(characterSet: name) != nil {
            encoding = String.Encoding(ianaName: name)
            decoderName = name
        } else {
            return nil
        }
    }

    private init(encoding: String.Encoding?, decoderName: String) {
        self.encoding = encoding
        self.decoderName = decoderName
    }

    static let utf8 = NamedCharacterSet(encoding: .utf8, decoderName: "utf-8")
    static let utf16 = NamedCharacterSet(encoding: .utf16, decoderName: "utf-16")
    static let utf16LittleEndian = NamedCharacterSet(encoding: .utf16LittleEndian, decoderName: "utf-16le")
    static let utf16BigEndian = NamedCharacterSet(encoding: .utf16BigEndian, decoderName: "utf-16be")
    static let utf32 = NamedCharacterSet(encoding: .utf32, decoderName: "utf-32")
    static let utf32LittleEndian = NamedCharacterSet(encoding: .utf32LittleEndian, decoderName: "utf-32le")
    static let utf32BigEndian = NamedCharacterSet(encoding: .utf32BigEndian, decoderName: "utf-32be")

    /// The text without its byte order mark; `nil` when the octets are not text in this set, or end within a
    /// character.
    func decode(_ octets: Data) -> String? {
        switch encoding {
        case .utf8?, .ascii?, .isoLatin1?:
            return String(data: octets, encoding: encoding ?? .utf8)
        case .utf16?, .utf16LittleEndian?, .utf16BigEndian?:
            return units(of: octets, as: UInt16.self).flatMap { String(validating: $0, as: UTF16.self) }
        case .utf32?, .utf32LittleEndian?, .utf32BigEndian?:
            return units(of: octets, as: UInt32.self).flatMap { String(validating: $0, as: UTF32.self) }
        default:
            if let decoder = TextDecoder(characterSet: decoderName) { return decoder.decode(octets.span) }
            // The module of this set is not installed.
            return encoding.flatMap { String(data: octets, encoding: $0) }
        }
    }

    /// Whether parsers of JSON find out by themselves that a text is in this set: UTF-8, UTF-16, UTF-32,
    /// ASCII.
    var isKnownToParsers: Bool {
        switch encoding {
        case .utf8, .ascii, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian,
            .utf32BigEndian:
            true
        default:
            false
        }
    }

    // MARK: - Private

    private func units<Unit: FixedWidthInteger>(of octets: Data, as type: Unit.Type) -> [Unit]? {
        let width = Unit.bitWidth / 8
        guard octets.count.isMultiple(of: width) else { return nil }
        let octets = octets.span
        var units: [Unit] = []
        units.reserveCapacity(octets.count / width)
        for start in stride(from: 0, to: octets.count, by: width) {
            var unit: Unit = 0
            for index in start..<start + width { unit = unit << 8 | Unit(octets[index]) }
            units.append(unit)
        }
        let mark = 0xFEFF as Unit
        let isSwapped =
            switch encoding {
            case .utf16LittleEndian?, .utf32LittleEndian?: true
            case .utf16BigEndian?, .utf32BigEndian?: false
            default: units.first == mark.byteSwapped
            }
        if isSwapped {
            for index in units.indices { units[index] = units[index].byteSwapped }
        }
        if units.first == mark { units.removeFirst() }
        return units
    }
}

// MARK: - The table

extension NamedCharacterSet {
    private struct Row {
        let encoding: String.Encoding?
        /// `nil`: each name is one of iconv(3)'s.
        let decoderName: String?

        init(_ encoding: String.Encoding?, _ decoderName: String? = nil) {
            self.encoding = encoding
            self.decoderName = decoderName
        }

        /// By one of the numbers of `CFStringEncodingExt.h`, as in an `NSStringEncoding`.
        init(coreFoundation number: UInt, _ decoderName: String? = nil) {
            self.init(String.Encoding(rawValue: 0x8000_0000 | number), decoderName)
        }
    }

    /// Names as [IANA](https://www.iana.org/assignments/character-sets) lists them, and the labels of the
    /// Encoding Standard, for the sets that have a number in Foundation, or that iconv(3) calls otherwise.
    private static let table: [String: Row] = {
        let rows: [(Row, [String])] = [
            (
                .init(.utf8),
                ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"]
            ),
            (.init(.utf16), ["utf-16", "utf16", "csutf16"]),
            (.init(.utf16LittleEndian), ["utf-16le", "utf16le", "csutf16le"]),
            (.init(.utf16BigEndian), ["utf-16be", "utf16be", "unicodefffe", "csutf16be"]),
            (.init(.utf32), ["utf-32", "utf32", "csutf32"]),
            (.init(.utf32LittleEndian), ["utf-32le", "utf32le"]),
            (.init(.utf32BigEndian), ["utf-32be", "utf32be"]),
            (.init(.ascii), ["us-ascii", "ascii", "iso646-us", "ansi_x3.4-1968", "iso-ir-6", "us"]),
            (
                .init(.isoLatin1),
                [
                    "iso-8859-1", "iso8859-1", "iso88591", "iso_8859-1", "iso_8859-1:1987", "latin1", "l1",
                    "cp819",
                    "ibm819", "iso-ir-100", "csisolatin1",
                ]
            ),
            (
                .init(.isoLatin2, "ISO-8859-2"),
                [
                    "iso-8859-2", "iso8859-2", "iso88592", "iso_8859-2", "iso_8859-2:1987", "latin2", "l2",
                    "iso-ir-101",
                    "csisolatin2",
                ]
            ),
            (
                .init(coreFoundation: 0x0203, "ISO-8859-3"),
                ["iso-8859-3", "iso8859-3", "iso88593", "iso_8859-3", "latin3", "l3"]
            ),
            (
                .init(coreFoundation: 0x0204, "ISO-8859-4"),
                ["iso-8859-4", "iso8859-4", "iso88594", "iso_8859-4", "latin4", "l4"]
            ),
            (
                .init(coreFoundation: 0x0205, "ISO-8859-5"),
                ["iso-8859-5", "iso8859-5", "iso88595", "iso_8859-5", "cyrillic", "csisolatincyrillic"]
            ),
            (
                .init(coreFoundation: 0x0206, "ISO-8859-6"),
                [
                    "iso-8859-6", "iso8859-6", "iso88596", "iso_8859-6", "iso-8859-6-e", "iso-8859-6-i",
                    "arabic",
                    "asmo-708", "ecma-114",
                ]
            ),
            (
                .init(coreFoundation: 0x0207, "ISO-8859-7"),
                [
                    "iso-8859-7", "iso8859-7", "iso88597", "iso_8859-7", "greek", "greek8", "ecma-118",
                    "elot_928",
                    "sun_eu_greek",
                ]
            ),
            (
                .init(coreFoundation: 0x0208, "ISO-8859-8"),
                [
                    "iso-8859-8", "iso8859-8", "iso88598", "iso_8859-8", "iso-8859-8-e", "iso-8859-8-i",
                    "hebrew",
                    "logical", "visual",
                ]
            ),
            (
                .init(coreFoundation: 0x0209, "ISO-8859-9"),
                ["iso-8859-9", "iso8859-9", "iso88599", "iso_8859-9", "latin5", "l5"]
            ),
            (
                .init(coreFoundation: 0x020A, "ISO-8859-10"),
                ["iso-8859-10", "iso8859-10", "iso885910", "latin6", "l6"]
            ),
            (
                .init(coreFoundation: 0x020D, "ISO-8859-13"),
                ["iso-8859-13", "iso8859-13", "iso885913", "latin7", "l7"]
            ),
            (
                .init(coreFoundation: 0x020E, "ISO-8859-14"),
                ["iso-8859-14", "iso8859-14", "iso885914", "latin8", "l8"]
            ),
            (
                .init(coreFoundation: 0x020F, "ISO-8859-15"),
                ["iso-8859-15", "iso8859-15", "iso885915", "iso_8859-15", "latin9", "latin-9", "l9"]
            ),
            (.init(coreFoundation: 0x0210, "ISO-8859-16"), ["iso-8859-16", "iso8859-16", "latin10", "l10"]),
            (.init(.windowsCP1250, "CP1250"), ["windows-1250", "cp1250", "x-cp1250"]),
            (.init(.windowsCP1251, "CP1251"), ["windows-1251", "cp1251", "x-cp1251"]),
            (.init(.windowsCP1252, "CP1252"), ["windows-1252", "cp1252", "x-cp1252"]),
            (.init(.windowsCP1253, "CP1253"), ["windows-1253", "cp1253", "x-cp1253"]),
            (.init(.windowsCP1254, "CP1254"), ["windows-1254", "cp1254", "x-cp1254"]),
            (.init(coreFoundation: 0x0505, "CP1255"), ["windows-1255", "cp1255", "x-cp1255"]),
            (.init(coreFoundation: 0x0506, "CP1256"), ["windows-1256", "cp1256", "x-cp1256"]),
            (.init(coreFoundation: 0x0507, "CP1257"), ["windows-1257", "cp1257", "x-cp1257"]),
            (.init(coreFoundation: 0x0508, "CP1258"), ["windows-1258", "cp1258", "x-cp1258"]),
            (
                .init(coreFoundation: 0x041D, "CP874"),
                [
                    "windows-874", "cp874", "dos-874", "tis-620", "tis620", "iso-8859-11", "iso8859-11",
                    "iso885911",
                ]
            ),
            (.init(coreFoundation: 0x0A02, "KOI8-R"), ["koi8-r", "koi8_r", "koi8", "koi", "cskoi8r"]),
            (.init(coreFoundation: 0x0A08, "KOI8-U"), ["koi8-u", "koi8-ru"]),
            (.init(coreFoundation: 0x0000, "MACINTOSH"), ["macintosh", "mac", "x-mac-roman", "csmacintosh"]),
            (.init(coreFoundation: 0x0007, "MAC-CYRILLIC"), ["x-mac-cyrillic", "x-mac-ukrainian"]),
            (.init(nil, "CP866"), ["ibm866", "cp866", "866", "csibm866"]),
            (
                .init(coreFoundation: 0x0632, "GB18030"),
                [
                    "gb18030", "gbk", "gb2312", "gb_2312", "gb_2312-80", "x-gbk", "cp936", "windows-936",
                    "chinese",
                    "csgb2312", "csiso58gb231280", "iso-ir-58", "euc-cn",
                ]
            ),
            (
                .init(coreFoundation: 0x0A03, "BIG5-HKSCS"),
                ["big5", "big-5", "big5-hkscs", "big5hkscs", "cn-big5", "csbig5", "x-x-big5"]
            ),
            (
                .init(.shiftJIS, "CP932"),
                ["shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "csshiftjis"]
            ),
            (.init(coreFoundation: 0x0420, "CP932"), ["windows-31j", "cp932", "ms932", "cswindows31j"]),
            (.init(.japaneseEUC, "EUC-JP-MS"), ["euc-jp", "eucjp", "x-euc-jp", "cseucpkdfmtjapanese"]),
            (.init(.iso2022JP, "ISO-2022-JP"), ["iso-2022-jp", "csiso2022jp"]),
            (
                .init(coreFoundation: 0x0940, "UHC"),
                [
                    "euc-kr", "euckr", "cseuckr", "korean", "ks_c_5601-1987", "ks_c_5601-1989", "ksc5601",
                    "ksc_5601",
                    "csksc56011987", "iso-ir-149", "windows-949", "cp949", "uhc",
                ]
            ),
        ]
        var table: [String: Row] = [:]
        for (row, names) in rows {
            for name in names { table[name] = row }
        }
        return table
    }()
}

/// A body as text, in the character set that the response names.
struct ResponseText: Hashable, Sendable {
    /// The nearest of Foundation's encodings. UTF-8 when the response names no character set, one that this
    /// system does not know, or one that has no number in Foundation.
    let encoding: String.Encoding
    /// `nil` when there is no body, or the body is not text in its character set. That of a response without
    /// a character set, or with an unknown one, is UTF-8.
    let string: String?

    init(data: Data?, response: ReceivedResponse?) {
        let set = response?.charset.flatMap(NamedCharacterSet.init(name:)) ?? .utf8
        encoding = set.encoding ?? .utf8
        string = data.flatMap(set.decode)
    }
}
