import OperationNetworkingTesting

/// A file on the server: a name, and bytes that are generated on request.
struct SampleFile: Sendable {
    let name: String
    /// Bytes.
    let length: Int
    /// The version, from 1. Versions have different bytes and the same length.
    private(set) var version = 1
    private let seed: UInt64

    /// Twelve files of 1 to 8 MiB, with odd lengths.
    static let all: [SampleFile] = {
        let names = [
            "alder", "birch", "cedar", "elder", "hazel", "larch",
            "linden", "maple", "pine", "rowan", "spruce", "willow",
        ]
        let mebibytes = [3, 5, 8, 2, 6, 4, 1, 7, 3, 5, 2, 6]
        return zip(names, mebibytes).enumerated().map { index, file in
            SampleFile(name: file.0 + ".bin", length: (file.1 << 20) + 1237 * index + 1, seed: UInt64(index))
        }
    }()

    private init(name: String, length: Int, seed: UInt64) {
        self.name = name
        self.length = length
        self.seed = seed
    }

    // MARK: - Content

    /// The bytes.
    var content: PatternBody { PatternBody(seed: seed << 8 + UInt64(version), length: length) }

    /// The `ETag`, without its quotes: `alder-1`.
    var entityTag: String { "\(name.prefix { $0 != "." })-\(version)" }

    /// The representation that the server sends.
    var representation: Representation {
        Representation(.pattern(content), entityTag: .strong(entityTag))
    }

    /// The file after it was overwritten: of the same length, with another entity tag.
    var overwritten: SampleFile {
        var file = self
        file.version += 1
        return file
    }
}
