/// The names a file may have while it is not complete: `name.part`, then `name.1.part` and so on.
struct PartialName: Hashable, Sendable {
    private let stem: String

    init(of name: String) {
        // Room for the longest suffix. Names that differ only in what is cut away stay apart by their hash.
        let limit = FileName.maximumLength - 16
        if name.utf8.count <= limit {
            stem = name
        } else {
            stem = FileName.shortened(name, toBytes: limit - 17) + "~" + String(Self.hash(name), radix: 16)
        }
    }

    /// The name to try after `number` others.
    func candidate(_ number: Int) -> String {
        number == 0 ? stem + ".part" : stem + ".\(number).part"
    }

    /// FNV-1a: the same in every run, unlike `Hasher`.
    private static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
