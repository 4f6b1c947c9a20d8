import Foundation

/// The heads of the stored responses of a URL, in the form in which they are on the disk.
///
/// | Part                | Form                                                                |
/// |---------------------|---------------------------------------------------------------------|
/// | mark                | the octets `OpNC`, and ``format``                                   |
/// | generation          | 8 octets, the low ones first                                        |
/// | number of variants  | 2 octets                                                            |
/// | each variant        | the number of its body, 8 octets; its partition; its encoded head   |
///
/// Partitions and heads stand after their lengths, of 4 octets.
struct HeadFile: Hashable, Sendable {
    /// The number of this form. Another one's files are taken for nothing.
    static let format: UInt8 = 1
    private static let mark = Array("OpNC".utf8) + [format]
    /// The octets by which two versions of a file are told apart.
    static let generationEnd = mark.count + 8

    /// A random number of this version of the file: names, lengths and times of two versions may be equal.
    let generation: UInt64
    let variants: [StoredVariant]

    init(_ variants: [StoredVariant], generation: UInt64 = .random(in: 1 ... .max)) {
        self.generation = generation
        self.variants = variants
    }

    /// The number of the version that begins with these octets; `nil` if it is none of ours.
    static func generation(_ octets: some Collection<UInt8>) -> UInt64? {
        guard octets.count >= generationEnd, octets.starts(with: mark) else { return nil }
        var reader = Reader(octets: Array(octets.prefix(generationEnd)), position: mark.count)
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

    /// `nil` for anything but what ``encoded`` makes of responses for `url`.
    init?(encoded octets: some Collection<UInt8>, for url: String) {
        guard let generation = Self.generation(octets) else { return nil }
        var reader = Reader(octets: Array(octets), position: Self.generationEnd)
        guard let count = reader.integer(of: 2) else { return nil }
        var variants: [StoredVariant] = []
        for _ in 0..<count {
            guard let id = reader.integer(of: 8), let partition = reader.counted(),
                let head = reader.counted(),
                let decoded = CachedHead(encoded: head), decoded.url == url
            else { return nil }
            variants.append(
                StoredVariant(
                    partition: String(decoding: partition, as: UTF8.self),
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
            defer { position += count }
            return (0..<count).reduce(0) { $0 | UInt64(octets[position + $1]) << UInt64(8 * $1) }
        }

        /// Octets after their number.
        mutating func counted() -> [UInt8]? {
            guard let count = integer(of: 4), count <= octets.count - position else { return nil }
            defer { position += Int(count) }
            return Array(octets[position..<position + Int(count)])
        }
    }
}
