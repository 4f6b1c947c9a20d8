/// Numbers that look random and are the same whenever the seed and the names are: the SplitMix64 sequence.
struct RandomNumbers: RandomNumberGenerator {
    private var state: UInt64

    /// Different names make independent sequences of one seed.
    init(seed: UInt64, _ names: String...) {
        // FNV-1a: unlike `Hasher` it says the same in every process.
        state = names.joined(separator: "\n").utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }
}
