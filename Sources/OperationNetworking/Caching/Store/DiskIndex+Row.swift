import Foundation
internal import OperationNetworkingSystem

extension DiskIndex {
    /// One entry, as it was written: damage to a row shows by its checksum.
    struct Row: Sendable {
        /// The columns that ``init(_:)`` reads, in its order.
        private static let columns = "id, url, partition, head, body, blocks, checksum"
        /// The rows of a hash that a run of the machine believes.
        static let byHash =
            "SELECT \(columns) FROM entries WHERE hash = ? AND (boot IS NULL OR boot = ?) ORDER BY id"
        /// The row of an entry.
        static let byNumber = "SELECT \(columns) FROM entries WHERE id = ?"

        let id: Int64
        let key: CacheKey
        var head: CachedHead
        /// Whether the body is in the row.
        let isInline: Bool
        /// The body, or the checksums of its file, as many as it has blocks.
        private let octets: Data

        /// Short bodies only.
        var body: Data? { isInline ? octets : nil }

        /// The checksums of the file of a long body. Read anew each time: a look-up does without them.
        var checksums: BodyChecksums? {
            isInline ? nil : BodyChecksums(encoded: Array(octets), count: head.length)
        }

        /// The row at which a statement stands; `nil`: it is not as it was written.
        init?(_ statement: Database.Statement) {
            let id = statement.integer(0)
            let key = CacheKey(url: statement.text(1), partition: statement.text(2))
            let encoded = statement.bytes(3)
            let isInline = statement.isNull(5)
            let octets = statement.withBytes(isInline ? 4 : 5) { Data($0) }
            let checksum = Self.checksum(id, key, encoded.span, octets.span, isInline: isInline)
            guard statement.isNull(4) != isInline, checksum == statement.integer(6),
                let head = CachedHead(encoded: encoded)
            else { return nil }
            let length = head.length
            let isWhole =
                isInline
                ? Int64(octets.count) == length : BodyChecksums.isLength(octets.count, forBodyOf: length)
            guard isWhole else { return nil }
            (self.id, self.key, self.head) = (id, key, head)
            (self.isInline, self.octets) = (isInline, octets)
        }

        /// The checksum of all that is believed of a row: of the number as well, since it names the file of
        /// the body.
        ///
        /// - Parameters:
        ///   - id: the number.
        ///   - key: of the entry.
        ///   - head: encoded.
        ///   - octets: the body, or the checksums of its file.
        ///   - isInline: whether they are the body.
        /// - Returns: a CRC-32C.
        static func checksum(
            _ id: Int64,
            _ key: CacheKey,
            _ head: Span<UInt8>,
            _ octets: Span<UInt8>,
            isInline: Bool
        ) -> Int64 {
            var checksum = Checksum()
            checksum.add(id)
            checksum.add(key.url)
            checksum.add(key.partition)
            checksum.add(Int64(head.count))
            checksum.add(head)
            checksum.add(isInline ? 1 : 0)
            checksum.add(octets)
            return Int64(checksum.value)
        }

        /// The checksum of the row with another head.
        func checksum(with head: Span<UInt8>) -> Int64 {
            Self.checksum(id, key, head, octets.span, isInline: isInline)
        }
    }
}
