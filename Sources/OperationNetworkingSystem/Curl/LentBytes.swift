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

extension String {
    /// The text of a header line: UTF-8, or else ISO 8859-1, which can be anything (RFC 9110 §5.5).
    package init(headerText bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { buffer in
            String(validating: buffer, as: UTF8.self)
                ?? String(String.UnicodeScalarView(buffer.map { Unicode.Scalar($0) }))
        }
    }
}
