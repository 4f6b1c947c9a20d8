import Foundation

/// The caller's options of a download, as an operation, its archive and its checkpoint store them.
struct DownloadOptions: Hashable, Codable, Sendable {
    /// The location of the complete file. `nil` is an error when the download begins; a checkpoint has none, because
    /// it is in the same folder.
    var destination: URL?
    /// Whether an existing file is replaced.
    var replacesFile = false
    /// Whether an existing file is downloaded only if the server has another one.
    var downloadsOnlyIfChanged = false
    /// Whether an existing file that another program began is resumed: see ``DownloadOperation/continuesFile``.
    var continuesFile = false
    /// Whether bytes of earlier processes are discarded; `false` once they have been.
    var startsOver = false
    /// The digests that the file must have, all of them.
    var expectedDigests: [FileDigest] = []
    /// Additional digests to compute.
    var wantedAlgorithms: [DigestAlgorithm] = []
    /// The number of bytes to compare if there is no strong validator; `nil` to discard such bytes.
    var overlap: Int64?
    /// Whether the request's `User-Agent` is the program's own: see ``DownloadOperation/sendsOwnUserAgent``.
    var sendsOwnUserAgent = false

    /// Whether an existing file may be replaced.
    var mayReplace: Bool { replacesFile || downloadsOnlyIfChanged || continuesForeignFile }

    /// Whether an existing file of another program is resumed, which requires a digest.
    var continuesForeignFile: Bool { continuesFile && !expectedDigests.isEmpty }

    /// The options that a checkpoint stores.
    var noted: DownloadOptions {
        var options = self
        options.destination = nil
        options.startsOver = false
        return options
    }
}
