public import Foundation

/// A downloaded file, and the proof of its completeness.
public struct DownloadedFile: Hashable, Codable, Sendable {
    /// The proof that the file is complete and correct.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Proof: Hashable, Codable, Sendable {
        /// The file has this digest, the strongest of those that the caller expected or the server named.
        case digest(FileDigest)
        /// The file has the length that the server named, or ended at the mark of the end. It is the whole even if
        /// the request had a `Range`, which a server may ignore (RFC 9110 §14.2).
        case length
        /// The file has the length that the server named, but some of its bytes are from an earlier transfer, and no
        /// validator proved that they had not changed. Instead, the last of them were requested again and were equal:
        /// up to 64 KiB, or the number in ``DownloadOperation/unprovenBytes``. That is evidence, not proof.
        case overlap
        /// The file consists of these bytes of the whole: the caller's `Range` requested them, and the server sent
        /// exactly these.
        case range(Range<Int64>)
        /// The body ended when the connection was closed, so it may be incomplete.
        case unverifiable
        /// The file existed, and ``DownloadBatch/ExistingFiles/keep`` accepted it; nothing was requested. It has the
        /// expected ``DownloadedFile/digests``.
        case existing
    }

    /// The location of the file.
    public let file: URL
    /// The length in bytes.
    public let length: Int64
    /// The proof of its completeness.
    public let proof: Proof
    /// The computed digests: the expected and the wanted ones.
    public let digests: [FileDigest]
    /// The number of bytes from an earlier operation or process; 0 if bytes were discarded.
    public let bytesRecovered: Int64
    /// The reasons for which bytes were discarded, in order.
    public let restarts: [RestartReason]
}
