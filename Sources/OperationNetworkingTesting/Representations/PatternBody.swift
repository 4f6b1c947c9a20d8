public import Foundation

/// Deterministic pseudo-random bytes of any length, generated on demand: a body of 100 MiB uses 20 KiB of
/// memory.
///
/// Any range can be generated directly. Bytes at a wrong offset are detected: every page of 4096 bytes begins
/// with a unique number, and the rest of a page repeats only after five pages.
public struct PatternBody: Hashable, Sendable {
    private static let pageSize = 4096
    private static let pageCount = 5

    /// The seed. Different seeds give different bytes.
    public let seed: UInt64
    /// The number of bytes.
    public let length: Int
    private let pages: [UInt8]

    /// Creates a body of `length` bytes.
    public init(seed: UInt64 = 1, length: Int) {
        precondition(length >= 0, "A body cannot have \(length) bytes")
        self.seed = seed
        self.length = length
        var pages: [UInt8] = []
        pages.reserveCapacity(Self.pageSize * Self.pageCount)
        for index in 0..<UInt64(Self.pageSize * Self.pageCount / 8) {
            withUnsafeBytes(of: Self.mix(seed ^ 0x5851_F42D_4C95_7F2D, index).littleEndian) {
                pages.append(contentsOf: $0)
            }
        }
        self.pages = pages
    }

    /// Whether the bytes of two bodies are equal.
    public static func == (one: PatternBody, other: PatternBody) -> Bool {
        one.seed == other.seed && one.length == other.length
    }

    /// Hashes the properties that determine equality.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(seed)
        hasher.combine(length)
    }

    // MARK: - Bytes

    /// All bytes, in memory.
    public var data: Data { data(in: 0..<length) }

    /// Returns the bytes in `range`, which must be within the body.
    public func data(in range: Range<Int>) -> Data {
        var data = Data(count: range.count)
        data.withUnsafeMutableBytes { fill($0, from: range.lowerBound) }
        return data
    }

    /// Fills `buffer` with the bytes starting at `offset`.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int) {
        precondition(offset >= 0 && offset + buffer.count <= length, "The range is not within the body")
        var done = 0
        pages.withUnsafeBytes { pages in
            while done < buffer.count {
                let (page, start) = (offset + done).quotientAndRemainder(dividingBy: Self.pageSize)
                let count = min(Self.pageSize - start, buffer.count - done)
                let source = (page % Self.pageCount) * Self.pageSize + start
                let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: pages[source..<source + count]))
                if start < 8 {
                    withUnsafeBytes(of: Self.mix(seed, UInt64(page)).littleEndian) { number in
                        let end = min(8, start + count)
                        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: number[start..<end]))
                    }
                }
                done += count
            }
        }
    }

    // MARK: - Checking

    /// Returns the offset of the first byte in which `data` differs from the body, or at which one of them
    /// ends early; `nil` if they are equal.
    public func firstDifference(from data: Data) -> Int? {
        firstDifference(from: data, at: 0) ?? (data.count == length ? nil : min(data.count, length))
    }

    /// Returns the offset of the first byte in which the file differs from the body, or at which one of them
    /// ends early; `nil` if they are equal. Reads 1 MiB at a time.
    ///
    /// - Throws: the error of `FileHandle` if the file cannot be read.
    public func firstDifference(fromFile file: URL) throws -> Int? {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        var offset = 0
        while let data = try handle.read(upToCount: 1 << 20), !data.isEmpty {
            if let difference = firstDifference(from: data, at: offset) { return difference }
            offset += data.count
            if offset > length { return length }
        }
        return offset == length ? nil : offset
    }

    /// Compares the bytes that both have.
    private func firstDifference(from data: Data, at offset: Int) -> Int? {
        let count = min(data.count, length - offset)
        guard count > 0 else { return nil }
        let expected = self.data(in: offset..<offset + count)
        if data.prefix(count) == expected { return nil }
        return zip(data, expected).enumerated().first { $1.0 != $1.1 }.map { offset + $0.offset }
    }

    // MARK: - Numbers

    /// Returns the `index`th number of the SplitMix64 sequence with this seed.
    private static func mix(_ seed: UInt64, _ index: UInt64) -> UInt64 {
        var number = seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }
}
