/// The encoding of the heads of a URL's stored responses on the disk.
///
/// | Part                | Form                                                                |
/// |---------------------|---------------------------------------------------------------------|
/// | mark                | the octets `OpNC`, and ``format``                                   |
/// | generation          | 8 octets, the low ones first                                        |
/// | number of variants  | a number                                                            |
/// | each variant        | the number of its body, its partition as a text, and its head       |
///
/// Numbers and texts have the form that they have in the encoding of a head.
struct HeadFile: Hashable, Sendable {
    /// The number of this format. Files of another format are ignored.
    static let format: UInt8 = 2
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
        guard octets.starts(with: mark) else { return nil }
        var reader = HeadReader(octets, from: mark.count)
        return try? reader.eight()
    }

    var encoded: [UInt8] {
        var writer = HeadWriter(octets: Self.mark)
        writer.append(eight: generation)
        writer.append(Int64(variants.count))
        for variant in variants {
            writer.append(variant.entry.id)
            writer.append(variant.partition)
            variant.entry.head.write(to: &writer)
        }
        return writer.octets
    }

    /// Fails for anything that ``encoded`` does not produce for `url`.
    init?(encoded octets: [UInt8], for url: String) {
        guard let generation = Self.generation(octets) else { return nil }
        var reader = HeadReader(octets, from: Self.generationEnd)
        var variants: [StoredVariant] = []
        do throws(HeadReader.Mistake) {
            for _ in 0..<(try reader.number()) {
                let (id, partition) = (try reader.number(), try reader.text())
                let head = try CachedHead(from: &reader)
                guard head.url == url else { return nil }
                let entry = CacheEntry(id: id, head: head)
                variants.append(StoredVariant(partition: partition, entry: entry, isOnDisk: true))
            }
        } catch {
            return nil
        }
        guard reader.isAtEnd else { return nil }
        self.init(variants, generation: generation)
    }
}
