/// A Bloom filter of the hashes of stored keys: says at once of most keys that nothing is stored for them.
///
/// It never says so of a key that was inserted. Ten bits for each of `capacity` hashes make it wrong for
/// about one in a hundred of the others. A hash cannot be taken out, so it is made anew from time to time.
struct KeyFilter: Sendable {
    private static let probes: UInt64 = 7

    /// The number of hashes that it was made for.
    let capacity: Int
    /// The number of hashes that were inserted, repeated ones included.
    private(set) var count = 0
    private var words: [UInt64]

    init(capacity: Int) {
        self.capacity = max(capacity, 1024)
        words = [UInt64](repeating: 0, count: (self.capacity * 10 + 63) / 64)
    }

    var isOverfull: Bool { count > capacity }

    mutating func insert(_ hash: Int64) {
        count += 1
        for probe in 0..<Self.probes {
            let bit = place(hash, probe)
            words[bit / 64] |= 1 << UInt64(bit % 64)
        }
    }

    func mayContain(_ hash: Int64) -> Bool {
        for probe in 0..<Self.probes {
            let bit = place(hash, probe)
            if words[bit / 64] & 1 << UInt64(bit % 64) == 0 { return false }
        }
        return true
    }

    /// Two halves of one hash make as many as are needed (Kirsch and Mitzenmacher); the product mixes it,
    /// since the last bytes of a text are in the low bits of FNV-1a only.
    private func place(_ hash: Int64, _ probe: UInt64) -> Int {
        var mixed = UInt64(bitPattern: hash) &* 0x9e37_79b9_7f4a_7c15
        mixed ^= mixed >> 32
        let second = (mixed &* 0xd6e8_feb8_6659_fd93) >> 32 | 1
        return Int((mixed &+ probe &* second) % UInt64(words.count * 64))
    }
}
