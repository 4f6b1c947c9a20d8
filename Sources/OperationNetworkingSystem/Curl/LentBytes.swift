package import Foundation

extension Data {
    /// Copies bytes that are only lent. The one copy between libcurl and memory.
    package mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append($0) }
    }

    package init(_ bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { Data($0) }
    }
}

extension Array where Element == UInt8 {
    /// Adds the text of a header line in UTF-8: what is neither ASCII nor UTF-8 is ISO 8859-1, which can be
    /// anything (RFC 9110 §5.5).
    /// - Returns: whether it was UTF-8.
    @discardableResult
    package mutating func append(headerText bytes: Span<UInt8>) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            if Self.isASCII(buffer) || String(validating: buffer, as: UTF8.self) != nil {
                append(contentsOf: buffer)
                return true
            }
            append(contentsOf: String(octets: buffer).utf8)
            return false
        }
    }

    /// Adds text that is of use only if it can be given back octet for octet: what is no UTF-8 is U+FFFD.
    /// - Returns: whether it was UTF-8.
    package mutating func append(opaqueText bytes: Span<UInt8>) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            if Self.isASCII(buffer) || String(validating: buffer, as: UTF8.self) != nil {
                append(contentsOf: buffer)
                return true
            }
            append(contentsOf: String(decoding: buffer, as: UTF8.self).utf8)
            return false
        }
    }

    private static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var union: UInt8 = 0
        for byte in bytes { union |= byte }
        return union < 0x80
    }
}

extension String {
    /// The text of octets that are UTF-8; others become U+FFFD.
    package init(_ bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// The text of ASCII octets, each as `transform` makes it.
    package init(ascii bytes: Span<UInt8>, _ transform: (UInt8) -> UInt8) {
        self.init(unsafeUninitializedCapacity: bytes.count) { octets in
            for index in bytes.indices { octets.initializeElement(at: index, to: transform(bytes[index])) }
            return bytes.count
        }
    }

    /// The text with one scalar for each octet, which is ISO 8859-1.
    package init(octets: some Sequence<UInt8>) {
        self.init(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }

    /// The octets of such a text.
    package var octets: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

    /// The text of a header line: UTF-8, or else ISO 8859-1.
    package init(headerText bytes: Span<UInt8>) {
        var octets: [UInt8] = []
        octets.append(headerText: bytes)
        self = String(decoding: octets, as: UTF8.self)
    }
}
