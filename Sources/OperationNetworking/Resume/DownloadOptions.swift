import Foundation

/// What the caller asks of a download: the settings of an operation, and what its archive and its checkpoint keep of
/// them, for a process that knows nothing else.
struct DownloadOptions: Hashable, Codable, Sendable {
    /// `nil` is an error, told when the download begins. A checkpoint has none: it lies beside it.
    var destination: URL?
    /// Whether a file that has the name is replaced.
    var replacesFile = false
    /// Whether such a file is fetched only if the server has another one.
    var downloadsOnlyIfChanged = false
    /// Whether such a file, if another program began it, is continued: see ``DownloadOperation/continuesFile``.
    var continuesFile = false
    /// Whether what earlier processes left is thrown away; `false` for one that has done so.
    var startsOver = false
    /// All have to hold.
    var expectedDigests: [FileDigest] = []
    /// Computed besides.
    var wantedAlgorithms: [DigestAlgorithm] = []
    /// The number of bytes to compare where there is no strong validator; `nil`: such bytes are not continued.
    var overlap: Int64?
    /// Whether the request's `User-Agent` is the program's own: see ``DownloadOperation/sendsOwnUserAgent``.
    var sendsOwnUserAgent = false

    /// Whether a file that has the name may be replaced.
    var mayReplace: Bool { replacesFile || downloadsOnlyIfChanged || continuesForeignFile }

    /// A digest has to decide in the end.
    var continuesForeignFile: Bool { continuesFile && !expectedDigests.isEmpty }

    /// Those for a checkpoint.
    var noted: DownloadOptions {
        var options = self
        options.destination = nil
        options.startsOver = false
        return options
    }
}
