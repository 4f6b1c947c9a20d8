import Foundation

/// The part of an ``OperationArchive`` that a download has besides: its options, and the file, if it is
/// complete. The bytes of one that is not are in its partial file, with a checkpoint.
struct DownloadArchive: Codable, Sendable {
    var destination: URL?
    var replacesFile = false
    var isStrict = false
    var onlyIfChanged = false
    /// `false` for one that has thrown away what was there already.
    var startsOver = false
    var expectedDigests: [FileDigest] = []
    var wantedDigests: [DigestAlgorithm] = []
    /// The number of bytes to compare where a server has no strong validator; `nil`: such bytes are
    /// discarded.
    var overlap: Int64?
    /// Whether it was asked for only if the server has another file.
    var isConditional = false
    var file: File?

    /// A complete file.
    struct File: Codable, Sendable {
        var url: URL
        var length: Int64
        var proof: Proof
        var digests: [FileDigest]
        var bytesRecovered: Int64
        var restarts: [RestartReason]

        /// One of its properties, or none, says what the proof is.
        struct Proof: Codable, Sendable {
            var digest: FileDigest?
            var range: Range<Int64>?
            var isLength: Bool?
            var isOverlap: Bool?
        }
    }
}
