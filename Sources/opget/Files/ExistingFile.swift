import Foundation
import OperationNetworking

/// A file that existed before the run.
enum ExistingFile {
    /// Reads it, and compares it with what it has to be.
    ///
    /// Each digest opens the file anew: an ``ExaminedFile`` tells whether it was the same one each time.
    ///
    /// - Returns: the strongest digest that it has, `nil` when nothing is expected; or the failure of a file
    ///   that has another one.
    /// - Throws: why it cannot be read.
    static func verify(_ path: FilePath, _ expected: [FileDigest]) throws -> FileStep.Verification {
        for digest in expected {
            let actual = try FileDigest.of(file: path.url, algorithm: digest.algorithm)
            guard actual == digest else {
                return .wrong(
                    Failure(
                        .checksum,
                        "\(path.text) exists, and its \(digest.algorithm.rawValue) is \(actual.hex), not "
                            + "\(digest.hex); --overwrite replaces it."
                    )
                )
            }
        }
        return .right(strongest(expected))
    }

    /// The digest that proves most.
    static func strongest(_ digests: [FileDigest]) -> FileDigest? {
        digests.max { $0.bytes.count < $1.bytes.count }
    }
}
