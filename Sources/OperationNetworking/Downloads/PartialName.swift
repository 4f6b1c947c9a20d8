/// The names next to an incomplete file: `name.part`, `name.1.part` and so on, each with a checkpoint.
struct PartialName: Hashable, Sendable {
    /// The maximum length of a name in Linux file systems, in bytes.
    private static let maximumLength = 255
    /// The length reserved for the longest ending, `.9.part.resume.new`.
    private static let endingLength = 24
    /// The number of names: two for parts, the others in case other programs have taken some.
    static let candidateCount = 10

    private let stem: String

    init(of name: String) {
        let limit = Self.maximumLength - Self.endingLength
        if name.utf8.count <= limit {
            stem = name
        } else {
            // A hash distinguishes names that differ only in what is cut off.
            stem = Self.shortened(name, toBytes: limit - 17) + "~" + String(Self.hash(name), radix: 16)
        }
    }

    /// Returns the names to try after `number` others.
    func candidate(_ number: Int) -> Candidate {
        Candidate(part: number == 0 ? stem + ".part" : stem + ".\(number).part")
    }

    /// All names, in order.
    var candidates: [Candidate] { (0..<Self.candidateCount).map(candidate) }

    /// Whether a partial file of this destination may have the name: `log.1.part` may belong to `log` and to `log.1`.
    func mayBe(_ part: String) -> Bool {
        candidates.contains { $0.part.utf8.elementsEqual(part.utf8) }
    }

    /// The names of a partial file and of its checkpoint.
    struct Candidate: Hashable, Sendable {
        /// The suffix of a checkpoint, after the name of its partial file.
        static let checkpointEnding = ".resume"
        /// The name of the partial file.
        let part: String
        /// The name of the checkpoint.
        var checkpoint: String { part + Self.checkpointEnding }
        /// The name of a checkpoint while it is being written.
        var temporary: String { part + ".resume.new" }
    }

    /// Returns the beginning of a name, without splitting a character.
    private static func shortened(_ name: String, toBytes limit: Int) -> String {
        var length = 0
        let scalars = name.unicodeScalars.prefix { scalar in
            length += scalar.utf8.count
            return length <= limit
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// FNV-1a, which is the same in every run, unlike `Hasher`.
    private static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
