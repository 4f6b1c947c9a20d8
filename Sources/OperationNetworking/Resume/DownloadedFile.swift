public import Foundation

/// A file that was downloaded, and the proof of it.
public struct DownloadedFile: Hashable, Codable, Sendable {
    /// The proof that the file is the whole, and the right one.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Proof: Hashable, Codable, Sendable {
        /// The file has this digest, the strongest of those that the caller or the server named.
        case digest(FileDigest)
        /// The file has the length, or ended at the mark, that the server named. It is the whole, even if the
        /// request had a `Range` of the caller's: a server may ignore that (RFC 9110 §14.2).
        case length
        /// The file has the length that the server named, but some of its bytes are from an earlier transfer,
        /// and no validator proved that they are still the same: the server repeated none, or has none.
        /// Instead the last of these bytes came again and were equal: up to 64 KiB, or as many as
        /// ``DownloadOperation/unprovenBytes`` says. That is evidence, not proof.
        case overlap
        /// The file is not the whole, but these bytes of it: the caller's own `Range` asked for them, and the
        /// server named just them, and sent as many.
        case range(Range<Int64>)
        /// The body ended when the connection did: whether that was its end cannot be known.
        case unverifiable
        /// The file existed, and ``DownloadBatch/ExistingFiles/keep`` let it count: nothing was requested. It has
        /// the ``DownloadedFile/digests``, which were expected.
        case existing
    }

    /// The place of the file.
    public let file: URL
    /// The length in bytes.
    public let length: Int64
    /// The proof that it passed.
    public let proof: Proof
    /// The digests that were computed: those that were expected, and those that were asked for.
    public let digests: [FileDigest]
    /// The number of its bytes that an earlier operation or process had left; 0 if bytes were thrown away.
    public let bytesRecovered: Int64
    /// The reasons for which bytes were thrown away on the way, in order.
    public let restarts: [RestartReason]
}
