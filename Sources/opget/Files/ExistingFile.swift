import Foundation
import OperationNetworking

/// A file that existed before the run.
enum ExistingFile {
    /// Reads it, and compares it with what it has to be.
    ///
    /// - Returns: the strongest digest that it has; `nil` when nothing is expected.
    /// - Throws: `Failure` with ``Outcome/checksum`` when it is another one, or why it cannot be read.
    static func verify(_ path: FilePath, _ expected: [FileDigest]) throws -> FileDigest? {
        for digest in expected {
            let actual = try FileDigest.of(file: path.url, algorithm: digest.algorithm)
            guard actual == digest else {
                throw Failure(
                    .checksum,
                    "\(path.text) exists, and its \(digest.algorithm.rawValue) is \(actual.hex), not "
                        + "\(digest.hex); --overwrite replaces it."
                )
            }
        }
        return strongest(expected)
    }

    /// The digest that proves most.
    static func strongest(_ digests: [FileDigest]) -> FileDigest? {
        digests.max { $0.bytes.count < $1.bytes.count }
    }
}
