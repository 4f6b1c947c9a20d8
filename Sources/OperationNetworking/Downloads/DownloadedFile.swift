public import Foundation

/// A file that was downloaded, and the proof of it.
public struct DownloadedFile: Hashable, Sendable {
    /// The proof that the file is the whole, and the right one.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Proof: Hashable, Sendable {
        /// The file has this digest, the strongest of those that the caller or the server named.
        case digest(Digest)
        /// The file has the length, or ended at the mark, that the server named. It is the whole, even if the
        /// request had a `Range` of the caller's: a server may ignore that (RFC 9110 §14.2).
        case length
        /// The file has the length that the server named. Of some of its bytes, which an earlier transfer had
        /// left, the server did not say that they still are the same: it repeated no validator, or it has
        /// none, and the last of them, up to 64 KiB or as many as ``DownloadOperation/unprovenBytes`` says,
        /// came again and were equal. That is evidence, not proof.
        case overlap
        /// The file is not the whole, but these bytes of it: the caller's own `Range` asked for them, and the
        /// server named just them, and sent as many.
        case range(Range<Int64>)
        /// The body ended when the connection did: whether that was its end cannot be known.
        case unverifiable
    }

    /// The place of the file.
    public let file: URL
    /// The length in bytes.
    public let length: Int64
    /// The proof that it passed.
    public let proof: Proof
    /// The digests that were computed: those that were expected, and those that were asked for.
    public let digests: [Digest]
    /// The number of its bytes that an earlier process had left.
    public let bytesRecovered: Int64
    /// The reasons for which bytes were thrown away on the way, in order.
    public let restarts: [RestartReason]
}
