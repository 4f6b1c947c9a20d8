import Foundation
import FoundationNetworking

/// What a download is to become, decided before it starts.
struct DownloadPlan: Sendable {
    var request: URLRequest
    /// What is shown to a server that asks who it is.
    var credential: Credential?
    var clientIdentity: ClientIdentity?
    /// `nil` is an error, told when the download begins.
    var destination: URL?
    var replacesFile = false
    /// Which file is replaced all the same.
    var replaceable = ReplaceableFile.none
    /// A file that another program began, to begin with where no earlier process left anything.
    var startedFile: StartedFile?
    /// Whether what was begun at another address, or as another user without a strong tag, is never
    /// continued.
    var isStrict = false
    /// Whether a file that is there is fetched only if the server has another one.
    var onlyIfChanged = false
    /// Whether what earlier processes left is thrown away.
    var startsOver = false
    /// All have to hold.
    var expectedDigests: [Digest] = []
    /// Computed besides.
    var wantedAlgorithms: [DigestAlgorithm] = []
    /// Called on the sink's queue with what the file is, and the partial file, when that is complete, right, and on the disk,
    /// and is about to get its name. What it throws is the end, and the partial file is kept.
    var willFinish: (@Sendable (_ download: Download, _ part: URL) throws -> Void)?

    /// As whom it is asked.
    var asker: Asker { Asker(request, credential: credential, identity: clientIdentity) }

    /// What a process that knows nothing but the checkpoint has to know.
    var wish: DownloadCheckpoint.Wish {
        DownloadCheckpoint.Wish(
            name: destination.map(DownloadPlace.name) ?? "",
            replacesFile: replacesFile,
            digests: expectedDigests.map(\.description)
        )
    }
}

/// How a download is going: written on its sink's queue, read anywhere.
struct DownloadProgress: Sendable {
    /// Whether it was asked for only if the server has another file than the one that is there.
    var isConditional = false
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
