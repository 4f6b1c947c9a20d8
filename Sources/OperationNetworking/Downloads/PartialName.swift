/// The names beside a file while it is not complete: `name.part`, `name.1.part` and so on, each with a
/// checkpoint.
struct PartialName: Hashable, Sendable {
    /// The longest name of Linux's file systems, in bytes.
    private static let maximumLength = 255
    /// Room for the longest ending, `.9.part.resume.new`.
    private static let endingLength = 24
    /// The number of names: two parts, and those that are another program's.
    static let candidateCount = 10

    private let stem: String

    init(of name: String) {
        let limit = Self.maximumLength - Self.endingLength
        if name.utf8.count <= limit {
            stem = name
        } else {
            // Names that differ only in what is cut away stay apart by their hash.
            stem = Self.shortened(name, toBytes: limit - 17) + "~" + String(Self.hash(name), radix: 16)
        }
    }

    /// The names to try after `number` others.
    func candidate(_ number: Int) -> Candidate {
        Candidate(part: number == 0 ? stem + ".part" : stem + ".\(number).part")
    }

    /// The names in order.
    var candidates: [Candidate] { (0..<Self.candidateCount).map(candidate) }

    /// Whether a partial file of this name can be one of these: `log.1.part` is one of `log` as well as of
    /// `log.1`.
    func mayBe(_ part: String) -> Bool {
        let ending = ".part"
        let rest = part.utf8.dropFirst(stem.utf8.count)
        guard part.utf8.starts(with: stem.utf8), rest.count >= ending.utf8.count,
            rest.suffix(ending.utf8.count).elementsEqual(ending.utf8)
        else { return false }
        let number = rest.dropLast(ending.utf8.count)
        guard !number.isEmpty else { return true }
        guard number.first == UInt8(ascii: "."), let value = Int(Substring(number.dropFirst())) else {
            return false
        }
        return (1..<Self.candidateCount).contains(value)
            && Substring(number.dropFirst()).utf8.elementsEqual(String(value).utf8)
    }

    /// A partial file and what belongs to it.
    struct Candidate: Hashable, Sendable {
        /// Behind the name of a partial file, it is that of its checkpoint.
        static let checkpointEnding = ".resume"
        /// The bytes.
        let part: String
        /// The name of the checkpoint.
        var checkpoint: String { part + Self.checkpointEnding }
        /// A checkpoint that is being written.
        var temporary: String { part + ".resume.new" }
    }

    /// The beginning of a name, between characters.
    private static func shortened(_ name: String, toBytes limit: Int) -> String {
        var length = 0
        let scalars = name.unicodeScalars.prefix { scalar in
            length += scalar.utf8.count
            return length <= limit
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// FNV-1a: the same in every run, unlike `Hasher`.
    private static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
