import Foundation

/// Words of a command line for `sh`: whatever is in them comes out as it went in.
enum ShellText {
    /// One word. A text with a NUL cannot be one, in any shell.
    static func word(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy {
                $0.isASCIIDigit || ($0.lowercasedASCII &- UInt8(ascii: "a")) < 26 || plain.contains($0)
            }
        return isPlain ? text : "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    private static let plain = Set("-_./:@%+,=".utf8)

    /// A command that prints these bytes: `printf` with octal escapes, which every shell has built in.
    static func printing(_ data: Data) -> String {
        var text = ""
        for octet in data {
            let isPlain =
                octet.isASCIIDigit || (octet.lowercasedASCII &- UInt8(ascii: "a")) < 26 || octet == 0x20
            if isPlain {
                text.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                text += "\\" + String(octet + 0, radix: 8).leftPadded(to: 3)
            }
        }
        return "printf '\(text)'"
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: Swift.max(0, count - self.count)) + self
    }
}
