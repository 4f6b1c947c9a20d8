import Glibc

/// Decodes octets in any character set that `iconv -l` lists.
///
/// A decoder is for one text: ``decode(_:)`` consumes it. See iconv_open(3) and iconv(3).
package struct TextDecoder: ~Copyable {
    private let descriptor: iconv_t

    /// The maximum length of a name, which is IANA's limit (RFC 2978 §2.3).
    private static let maximumNameLength = 40

    /// - Parameter name: the name from a server, in any case. `nil` is returned if the system does not
    ///   support it or its module is not installed, or if it has an invalid character: above all a slash,
    ///   after which iconv(3) expects options.
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

    /// Returns the text; `nil` if the octets are invalid in this character set, or end within a character.
    package consuming func decode(_ octets: Span<UInt8>) -> String? {
        var text: [UInt8] = []
        text.reserveCapacity(octets.count)
        let isText = octets.withUnsafeBufferPointer { convert($0, into: &text) }
        // Validated, because glibc's UTF-8 exceeds U+10FFFF.
        return isText ? String(validating: text, as: UTF8.self) : nil
    }

    // MARK: - Private

    /// The maximum output per call of iconv(3).
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
                // Without input, the decoder flushes its state, such as a letter that waits for an accent.
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
                    return false  // EILSEQ, EINVAL, or no progress despite an empty output buffer
                }
            }
        }
    }

    /// Whether the octet occurs in names such as `ISO_8859-1:1987` and `NF_Z_62-010_(1973)`.
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
