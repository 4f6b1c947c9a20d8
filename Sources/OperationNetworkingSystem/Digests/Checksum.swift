import COperationNetworking

/// An incremental CRC-32C: detects corruption, not manipulation.
///
/// With the processor's instruction, 1 GiB takes less than a tenth of a second.
package struct Checksum: Hashable, Sendable {
    package private(set) var value: UInt32 = 0

    package init() {}

    /// Continues from an earlier value.
    package init(_ value: UInt32) {
        self.value = value
    }

    package mutating func add(_ bytes: Span<UInt8>) {
        value = bytes.withUnsafeBytes { cchecksum_add(value, $0.baseAddress, $0.count) }
    }

    /// The implementation for processors without the instruction.
    package mutating func addByTable(_ bytes: Span<UInt8>) {
        value = bytes.withUnsafeBytes { cchecksum_add_by_table(value, $0.baseAddress, $0.count) }
    }

    /// Adds the octets of a number, least significant first.
    package mutating func add(_ number: Int64) {
        value = withUnsafeBytes(of: number.littleEndian) { cchecksum_add(value, $0.baseAddress, $0.count) }
    }

    /// Adds a text and its length, so that consecutive texts are unambiguous.
    package mutating func add(_ text: String) {
        add(Int64(text.utf8.count))
        add(text.utf8Span.span)
    }
}
