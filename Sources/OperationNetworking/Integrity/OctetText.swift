// Octets as text: hexadecimal digits and base64.

extension [UInt8] {
    /// Two digits for each octet, in either case. `nil` for anything else.
    init?(hex text: some StringProtocol) {
        let digits = text.utf8
        guard digits.count % 2 == 0 else { return nil }
        self.init()
        reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = digit.hexValue else { return nil }
            if let first = high {
                append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
    }

    /// In lower case.
    var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for octet in self {
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The alphabet of [RFC 4648 §4](https://www.rfc-editor.org/rfc/rfc4648#section-4) and nothing else, `=`
    /// only at the end.
    ///
    /// Padding may be missing, and bits that stand for no octet may be set: a parser should accept both ([RFC
    /// 8941 §4.2.7](https://www.rfc-editor.org/rfc/rfc8941#section-4.2.7)).
    init?(base64 text: some StringProtocol) {
        let padded = Array(text.utf8)
        let digits = padded.prefix { $0 != UInt8(ascii: "=") }
        let padding = padded.count - digits.count
        guard digits.count % 4 != 1, padding == 0 || (padding < 3 && padded.count % 4 == 0),
            padded.suffix(padding).allSatisfy({ $0 == UInt8(ascii: "=") })
        else { return nil }
        self.init()
        reserveCapacity(digits.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var bitCount = 0
        for digit in digits {
            guard let value = digit.base64Value else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
    }
}

extension UInt8 {
    fileprivate var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    fileprivate var base64Value: UInt8? {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): self - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): self - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
