import Foundation

/// The encoding of the heads of a URL's stored responses on the disk.
///
/// | Part                | Form                                                                |
/// |---------------------|---------------------------------------------------------------------|
/// | mark                | the octets `OpNC`, and ``format``                                   |
/// | generation          | 8 octets, the low ones first                                        |
/// | number of variants  | 2 octets                                                            |
/// | each variant        | the number of its body, 8 octets; its partition; its encoded head   |
///
/// Partitions and heads follow their lengths, of 4 octets each.
struct HeadFile: Hashable, Sendable {
    /// The number of this format. Files of another format are ignored.
    static let format: UInt8 = 1
    private static let mark = Array("OpNC".utf8) + [format]
    /// The length of the prefix that distinguishes two versions of a file.
    static let generationEnd = mark.count + 8

    /// A random number that identifies this version of the file. Two versions may have the same name, length
    /// and time.
    let generation: UInt64
    var variants: [StoredVariant]

    init(_ variants: [StoredVariant], generation: UInt64 = .random(in: 1 ... .max)) {
        self.generation = generation
        self.variants = variants
    }

    /// The number of the version that starts with these octets; `nil` if the cache did not write them.
    static func generation(_ octets: [UInt8]) -> UInt64? {
        guard octets.count >= generationEnd, octets.prefix(mark.count) == mark[...] else { return nil }
        var reader = Reader(octets: octets, position: mark.count)
        return reader.integer(of: 8)
    }

    // MARK: - Coding

    var encoded: [UInt8] {
        var octets = Self.mark
        func append(_ number: UInt64, _ count: Int) {
            for index in 0..<count { octets.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
        }
        append(generation, 8)
        append(UInt64(variants.count), 2)
        for variant in variants {
            append(UInt64(bitPattern: variant.entry.id), 8)
            append(UInt64(variant.partition.utf8.count), 4)
            octets += variant.partition.utf8
            let head = variant.entry.head.encoded
            append(UInt64(head.count), 4)
            octets += head
        }
        return octets
    }

    /// Fails for anything that ``encoded`` does not produce for `url`.
    init?(encoded octets: [UInt8], for url: String) {
        guard let generation = Self.generation(octets) else { return nil }
        var reader = Reader(octets: octets, position: Self.generationEnd)
        guard let count = reader.integer(of: 2) else { return nil }
        var variants: [StoredVariant] = []
        for _ in 0..<count {
            guard let id = reader.integer(of: 8), let partition = reader.counted(),
                let head = reader.counted(),
                let decoded = CachedHead(encoded: octets, in: head), decoded.url == url
            else { return nil }
            variants.append(
                StoredVariant(
                    partition: String(decoding: octets[partition], as: UTF8.self),
                    entry: CacheEntry(id: Int64(bitPattern: id), head: decoded),
                    isOnDisk: true
                )
            )
        }
        guard reader.position == reader.octets.count else { return nil }
        self.init(variants, generation: generation)
    }

    private struct Reader {
        let octets: [UInt8]
        var position: Int

        mutating func integer(of count: Int) -> UInt64? {
            guard octets.count - position >= count else { return nil }
            var number: UInt64 = 0
            for index in 0..<count { number |= UInt64(octets[position + index]) << UInt64(8 * index) }
            position += count
            return number
        }

        /// Reads the range of octets that follow their count.
        mutating func counted() -> Range<Int>? {
            guard let count = integer(of: 4), count <= octets.count - position else { return nil }
            let start = position
            position += Int(count)
            return start..<position
        }
    }
}
