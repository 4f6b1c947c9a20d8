import Foundation
import FoundationNetworking

/// What a download is to become, decided before it starts.
struct DownloadPlan: Sendable {
    var request: URLRequest
    /// `nil` is an error, told when the download begins.
    var destination: URL?
    var replacesFile = false
    /// All have to hold.
    var expectedDigests: [Digest] = []
    /// Computed besides.
    var wantedAlgorithms: [DigestAlgorithm] = []
}

/// How a download is going: written on its sink's queue, read anywhere.
struct DownloadProgress: Sendable {
    /// Where the bytes are; `nil` before it began, and when they have their name.
    var partialFile: URL?
    /// Where it is written down what they are.
    var checkpoint: URL?
    /// How many bytes an earlier process had left.
    var bytesRecovered: Int64 = 0
    var restarts: [RestartReason] = []
    /// Whether what came is kept when nobody wants the rest.
    var keepsPartialFile = true
    /// The file, when it has its name.
    var download: Download?
}
