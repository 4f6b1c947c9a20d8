import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The plan of a download, decided before it starts.
///
/// Besides the options it has the facts of the request that its sink needs.
struct DownloadPlan: Sendable {
    /// The request, as far as the caller chose it.
    var request: URLRequest
    /// The credential for servers that ask for one.
    var credential: Credential?
    var clientIdentity: ClientIdentity?
    /// The verification of the server; `nil`: as is usual for the URL.
    var verification: ServerVerification?
    /// Whether a closure is asked about servers that the policy does not accept.
    var asksAboutServers = false
    var options = DownloadOptions()
    /// Whether bytes of an earlier download count that came for another scheme, host, port or path.
    var takesOtherLocations = false
    /// Called on the sink's queue when the partial file is complete, right, and on the disk, and is about to
    /// get its name. What it throws is the end, and the partial file is kept.
    var willFinish: WillFinish?

    /// Gets what the file is, the partial file, and the verification of the servers that it came from.
    typealias WillFinish =
        @Sendable (_ download: DownloadedFile, _ part: URL, _ verification: ServerVerification) throws -> Void

    /// The request as adapters have made it; `nil`: there are none.
    var adapted: URLRequest?
    /// The token that goes along, of a ``TokenSource``.
    var token: String?
    /// The app's own names of fields that name a user.
    var secretFields: Set<String> = []

    /// Whom it is sent as.
    var identity: RequestIdentity {
        var question = adapted ?? request
        // The user that it names is taken out before it is sent.
        question.url = request.url
        return RequestIdentity(
            question,
            credential: credential,
            token: token,
            clientIdentity: clientIdentity,
            secretFields: secretFields
        )
    }

    /// The request, to be compared with that of earlier bytes.
    var question: DownloadQuestion {
        var question = DownloadQuestion(request, as: identity, under: verification, asksAboutServers)
        question.takesOtherLocations = takesOtherLocations
        question.knowsWhole = !options.expectedDigests.isEmpty
        return question
    }

    /// The record of the complete file; `nil` if there can be none. `origin`: the head of the response that
    /// it is of. `verification`: of the servers that it came from. `isWhole`: whether it is the whole, and
    /// not a part that the caller asked for.
    func record(
        _ stamp: FileStamp,
        _ proof: DownloadedFile.Proof,
        origin: HeaderFields,
        under verification: ServerVerification,
        isWhole: Bool
    ) -> FileRecord? {
        try? FileRecord(
            question,
            under: verification,
            stamp: stamp,
            proof: .init(proof),
            // The tag names the whole.
            fields: isWhole ? origin : [:],
            varying: VaryingFields.names(in: origin) ?? []
        )
    }
}

extension DownloadPlan {
    /// Looks at the file that is there, and reads all of it if there are digests.
    func condition(for file: URL, digests: [FileDigest] = []) throws -> FileCondition? {
        try FileCondition(for: file, question, digests: digests)
    }

    /// Finds what an earlier process left, or makes a new file.
    func parts(of destination: URL) throws -> PartPair {
        try PartPair(
            request,
            question,
            to: destination,
            replacesFile: options.mayReplace,
            comparing: options.overlap
        )
    }

    /// The complete file that is to be replaced; `nil`: there is none, or it is of another request.
    func replaced(_ destination: URL) throws -> KeptBody? {
        guard options.mayReplace else { return nil }
        return try KeptBody(file: destination, of: question, isToBeNewer: options.downloadsOnlyIfChanged)
    }
}

/// The progress of a download: written on its sink's queue, read anywhere.
struct DownloadProgress: Sendable {
    enum Move: Sendable {
        case notBegun
        case begun
        case done(Result<URL, any Error>)
    }

    /// Whether it was asked for only if the server has another file than the one that is there.
    var isConditional = false
    /// Whether that file was changed before the answer had come.
    var isChangedMeanwhile = false
    /// Whether what an earlier operation left was looked at: not before there is a connection.
    var hasOpened = false
    /// The partial file; `nil` before it began, and when it has its final name.
    var partialFile: URL?
    /// The checkpoint's file.
    var checkpoint: URL?
    /// The number of bytes that an earlier process had left.
    var bytesRecovered: Int64 = 0
    var restarts: [RestartReason] = []
    /// The response that the bytes are of; `nil`: there are none, or they are of no use.
    var content: PartialContent?
    /// Why the bytes that an earlier process had left are of no use; they stay until others come.
    var lost: RestartReason?
    /// Whether the bytes that came are kept when the rest is not wanted.
    var keepsPartialFile = true
    /// The file, when it has its name.
    var download: DownloadedFile?
    /// The move of the file by the operation's ``DownloadOperation/mover``.
    var move = Move.notBegun
    /// Asks for the number of bytes that are there; `nil` from the end of the transfer on.
    var countNow: @Sendable () -> Int64? = { nil }

    /// The partial files are open.
    mutating func didOpen(_ parts: PartPair) {
        hasOpened = true
        bytesRecovered = parts.current.count
        lost = parts.lost
        goesOn(with: parts.current)
    }

    /// The partial file is ready for a body.
    mutating func didBegin(_ partial: PartialDownload) {
        if let lost { restarts.append(lost) }
        lost = nil
        goesOn(with: partial)
    }

    /// This is the partial file now.
    mutating func goesOn(with partial: PartialDownload) {
        partialFile = partial.partURL
        checkpoint = partial.checkpointURL
        content = partial.checkpoint?.partialContent(offset: partial.count)
    }
}
