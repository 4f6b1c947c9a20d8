internal import Foundation

extension String.Encoding {
    /// The encoding that IANA calls `charset`, in any case; `nil` when it has no decoder here.
    ///
    /// Foundation's own look-up knows a dozen names on Linux. The rest of the names in use are in the table
    /// below, as the numbers of CoreFoundation's encodings, whose decoders are there.
    init?(charset: String) {
        let name = charset.lowercased()
        if let known = String.Encoding.table[name] {
            self = known
        } else if let known = String.Encoding(ianaName: name), known != .japaneseEUC {
            self = known  // EUC-JP is known by name, but not even ASCII can be decoded with it on Linux
        } else {
            return nil
        }
    }

    /// One of `CFStringEncodingExt.h`, as an `NSStringEncoding`.
    private init(coreFoundation number: UInt) {
        self.init(rawValue: 0x8000_0000 | number)
    }

    /// Names as [IANA](https://www.iana.org/assignments/character-sets) lists them, and the aliases that
    /// servers send.
    private static let table: [String: String.Encoding] = {
        let names: [(String.Encoding, [String])] = [
            (.utf8, ["utf-8", "utf8"]),
            (.utf16, ["utf-16", "utf16"]),
            (.utf16LittleEndian, ["utf-16le"]),
            (.utf16BigEndian, ["utf-16be"]),
            (.utf32, ["utf-32"]),
            (.ascii, ["us-ascii", "ascii", "iso646-us"]),
            (.isoLatin1, ["iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1"]),
            (.isoLatin2, ["iso-8859-2", "iso8859-2", "iso_8859-2", "latin2", "l2"]),
            (.init(coreFoundation: 0x0203), ["iso-8859-3", "latin3"]),
            (.init(coreFoundation: 0x0204), ["iso-8859-4", "latin4"]),
            (.init(coreFoundation: 0x0205), ["iso-8859-5", "cyrillic"]),
            (.init(coreFoundation: 0x0206), ["iso-8859-6", "arabic"]),
            (.init(coreFoundation: 0x0207), ["iso-8859-7", "greek"]),
            (.init(coreFoundation: 0x0208), ["iso-8859-8", "iso-8859-8-i", "hebrew"]),
            (.init(coreFoundation: 0x0209), ["iso-8859-9", "latin5"]),
            (.init(coreFoundation: 0x020A), ["iso-8859-10", "latin6"]),
            (.init(coreFoundation: 0x020D), ["iso-8859-13"]),
            (.init(coreFoundation: 0x020E), ["iso-8859-14"]),
            (
                .init(coreFoundation: 0x020F),
                ["iso-8859-15", "iso8859-15", "iso_8859-15", "latin9", "latin-9"]
            ),
            (.init(coreFoundation: 0x0210), ["iso-8859-16"]),
            (.windowsCP1250, ["windows-1250", "cp1250"]),
            (.windowsCP1251, ["windows-1251", "cp1251"]),
            (.windowsCP1252, ["windows-1252", "cp1252"]),
            (.windowsCP1253, ["windows-1253", "cp1253"]),
            (.windowsCP1254, ["windows-1254", "cp1254"]),
            (.init(coreFoundation: 0x0505), ["windows-1255", "cp1255"]),
            (.init(coreFoundation: 0x0506), ["windows-1256", "cp1256"]),
            (.init(coreFoundation: 0x0507), ["windows-1257", "cp1257"]),
            (.init(coreFoundation: 0x0508), ["windows-1258", "cp1258"]),
            (.init(coreFoundation: 0x041D), ["windows-874", "tis-620", "iso-8859-11"]),
            (.init(coreFoundation: 0x0A02), ["koi8-r"]),
            (.init(coreFoundation: 0x0A08), ["koi8-u"]),
            (.init(coreFoundation: 0x0000), ["macintosh", "mac"]),
            // GB 18030 contains GBK, which contains GB 2312.
            (.init(coreFoundation: 0x0632), ["gb18030", "gbk", "gb2312", "gb_2312-80", "x-gbk", "cp936"]),
            (.init(coreFoundation: 0x0A03), ["big5", "big5-hkscs", "cn-big5"]),
            (.shiftJIS, ["shift_jis", "shift-jis", "sjis", "x-sjis"]),
            (.init(coreFoundation: 0x0420), ["windows-31j", "cp932"]),
            (.iso2022JP, ["iso-2022-jp"]),
            (.init(coreFoundation: 0x0940), ["euc-kr", "ks_c_5601-1987", "korean"]),
        ]
        var table: [String: String.Encoding] = [:]
        for (encoding, aliases) in names {
            for alias in aliases { table[alias] = encoding }
        }
        return table
    }()
}
