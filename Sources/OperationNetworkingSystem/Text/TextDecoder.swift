import Glibc

/// Turns octets in one of the character sets that `iconv -l` lists into a string.
///
/// One decoder is for one text: it is used up by ``decode(_:)``. See iconv_open(3) and iconv(3).
package struct TextDecoder: ~Copyable {
    private let descriptor: iconv_t

    /// The longest name that is looked up; IANA's are at most 40 characters long (RFC 2978 §2.3).
    private static let maximumNameLength = 40

    /// - Parameter name: as a server wrote it, in any case. `nil` is returned for one that the system does
    ///   not know, or whose module is not installed, and for one with a character that no name has: a slash,
    ///   above all, since what follows it tells iconv(3) how to go about errors.
    package init?(characterSet name: String) {
        guard !name.isEmpty, name.utf8.count <= TextDecoder.maximumNameLength,
            name.utf8.allSatisfy(TextDecoder.isNameCharacter),
            let descriptor = iconv_open("UTF-8", name),
            descriptor != iconv_t(bitPattern: -1)
        else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        iconv_close(descriptor)
    }

    /// The text; `nil` when the octets are not text in this character set, or end within a character.
    package consuming func decode(_ octets: Span<UInt8>) -> String? {
        var text: [UInt8] = []
        text.reserveCapacity(octets.count)
        let isText = octets.withUnsafeBufferPointer { convert($0, into: &text) }
        // The check is needed: glibc's UTF-8 goes beyond U+10FFFF.
        return isText ? String(validating: text, as: UTF8.self) : nil
    }

    // MARK: - Private

    /// The largest output of one call of iconv(3).
    private static let pieceSize = 16 * 1024

    private func convert(_ octets: UnsafeBufferPointer<UInt8>, into text: inout [UInt8]) -> Bool {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: TextDecoder.pieceSize) { piece in
            // iconv(3) lacks const; it does not write to its input.
            var input = octets.baseAddress.map { start in
                UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: CChar.self)
            }
            var inputLeft = octets.count
            var isFlushing = inputLeft == 0
            while true {
                var output = piece.baseAddress
                var outputLeft = piece.count
                let leftBefore = inputLeft
                // Without input, what the decoder still holds comes out: a letter that waited for its accent.
                let result =
                    isFlushing
                    ? iconv(descriptor, nil, nil, &output, &outputLeft)
                    : iconv(descriptor, &input, &inputLeft, &output, &outputLeft)
                let failure = errno
                let count = piece.count - outputLeft
                text.append(
                    contentsOf: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(piece)[..<count])
                )
                if result != -1 {
                    if isFlushing { return true }
                    isFlushing = true
                } else if failure != E2BIG || (count == 0 && inputLeft == leftBefore) {
                    return false  // EILSEQ, EINVAL, or no progress with a whole piece to write to
                }
            }
        }
    }

    /// The characters of the names in use, such as `ISO_8859-1:1987` and `NF_Z_62-010_(1973)`.
    private static func isNameCharacter(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: ":"), UInt8(ascii: "+"), UInt8(ascii: "("), UInt8(ascii: ")"):
            true
        default:
            false
        }
    }
}
