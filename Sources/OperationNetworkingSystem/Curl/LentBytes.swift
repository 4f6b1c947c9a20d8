package import Foundation
import Glibc

extension Span where Element == UInt8 {
    /// Returns the first index of `octet`, by memchr(3): in a loop, each octet costs several instructions.
    package func firstIndex(of octet: UInt8) -> Int? {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            return memchr(start, Int32(octet), bytes.count).map { UnsafeRawPointer($0) - start }
        }
    }
}

extension Data {
    /// Appends a copy of borrowed bytes: the only copy between libcurl and memory.
    package mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append($0) }
    }

    package init(_ bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { Data($0) }
    }
}

extension Array where Element == UInt8 {
    /// Appends the text of a header line as UTF-8. Bytes that are not UTF-8 are read as ISO 8859-1 (RFC 9110
    /// §5.5).
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

    /// Appends text that is only useful if it can be returned octet for octet: bytes that are not UTF-8
    /// become U+FFFD.
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
    /// Decodes UTF-8; invalid octets become U+FFFD.
    package init(_ bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// Creates text from ASCII octets, mapped by `transform`.
    package init(ascii bytes: Span<UInt8>, _ transform: (UInt8) -> UInt8) {
        self.init(unsafeUninitializedCapacity: bytes.count) { octets in
            for index in bytes.indices { octets.initializeElement(at: index, to: transform(bytes[index])) }
            return bytes.count
        }
    }

    /// Creates text with one scalar per octet (ISO 8859-1).
    package init(octets: some Sequence<UInt8>) {
        self.init(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }

    /// The octets of text with one scalar per octet.
    package var octets: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

    /// Decodes a header line as UTF-8, or else as ISO 8859-1.
    package init(headerText bytes: Span<UInt8>) {
        var octets: [UInt8] = []
        octets.append(headerText: bytes)
        self = String(decoding: octets, as: UTF8.self)
    }
}
