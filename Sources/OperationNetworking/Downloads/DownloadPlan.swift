import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The description of a download, fixed before it starts: the caller's options, and the properties of the request
/// that the sink needs.
struct DownloadPlan: Sendable {
    /// The request, as far as the caller determined it.
    var request: URLRequest
    /// The credential for servers that require one.
    var credential: Credential?
    var clientIdentity: ClientIdentity?
    /// How the server is verified; `nil` for the usual way of the URL.
    var verification: ServerVerification?
    /// Whether a closure decides about servers that the policy does not accept.
    var asksAboutServers = false
    var options = DownloadOptions()
    /// Whether earlier bytes from another scheme, host, port or path are accepted.
    var takesOtherLocations = false
    /// Called on the sink's queue when the partial file is complete, verified and on disk, before it gets its name.
    /// If it throws, the download fails, and the partial file is kept.
    var willFinish: WillFinish?

    /// Receives the description of the file, the partial file, and how the servers of its bytes were verified.
    typealias WillFinish =
        @Sendable (_ download: DownloadedFile, _ part: URL, _ verification: ServerVerification) throws -> Void

    /// The adapted request; `nil` without adapters.
    var adapted: URLRequest?
    /// The token of a ``TokenSource`` that is sent along.
    var token: String?
    /// The app's own names of fields that identify a user.
    var secretFields: Set<String> = []

    /// The credentials that the request is sent with.
    var identity: RequestIdentity {
        var downloadRequest = adapted ?? request
        // The user in its URL is removed before it is sent.
        downloadRequest.url = request.url
        return RequestIdentity(
            downloadRequest,
            credential: credential,
            token: token,
            clientIdentity: clientIdentity,
            secretFields: secretFields
        )
    }

    /// The request, for the comparison with those of earlier bytes.
    var downloadRequest: DownloadRequest {
        var downloadRequest = DownloadRequest(request, as: identity, under: verification, asksAboutServers)
        downloadRequest.takesOtherLocations = takesOtherLocations
        downloadRequest.knowsWhole = !options.expectedDigests.isEmpty
        downloadRequest.startsOver = options.startsOver
        return downloadRequest
    }

    /// Creates the record of the complete file.
    /// - Parameters:
    ///   - file: the complete file.
    ///   - proof: the proof of its completeness.
    ///   - origin: the head of the response that began it.
    ///   - verification: how the servers of its bytes were verified.
    ///   - isWhole: whether it is the whole, and not a range that the caller requested.
    /// - Returns: `nil` if no digest can be computed, or the file system does not record times of birth. The file is
    ///   then saved without a record.
    func record(
        of file: PartFile,
        _ proof: DownloadedFile.Proof,
        origin: HeaderFields,
        under verification: ServerVerification,
        isWhole: Bool
    ) -> FileRecord? {
        guard file.lastingIdentity.birth != nil else { return nil }
        return try? FileRecord(
            downloadRequest,
            under: verification,
            file: file.lastingIdentity,
            stamp: file.stamp,
            proof: .init(proof),
            // The tag belongs to the whole.
            fields: isWhole ? origin : [:],
            varying: VaryingFields.names(in: origin) ?? []
        )
    }
}

extension DownloadPlan {
    /// Examines the existing file, and reads all of it if there are digests.
    func condition(for file: URL, digests: [FileDigest] = []) throws -> FileCondition? {
        try FileCondition(for: file, downloadRequest, digests: digests)
    }

    /// Finds the partial files of an earlier process, or creates a new one.
    func parts(of destination: URL) throws -> PartPair {
        try PartPair(
            request,
            downloadRequest,
            to: destination,
            replacesFile: options.mayReplace,
            comparing: options.overlap
        )
    }

    /// Returns the complete file that will be replaced; `nil` if there is none.
    func replaced(_ destination: URL) throws -> KeptBody? {
        guard options.mayReplace else { return nil }
        return try KeptBody(
            file: destination,
            of: downloadRequest,
            isToBeNewer: options.downloadsOnlyIfChanged
        )
    }
}

/// The progress of a download: written on the sink's queue, read on any thread.
struct DownloadProgress: Sendable {
    enum Move: Sendable {
        case notBegun
        /// The destination is being determined.
        case begun
        case moving
        case done(Result<URL, any Error>)
    }

    /// Whether the file was requested on condition that the server has another one.
    var isConditional = false
    /// Whether the existing file was changed before the response was received.
    var isChangedMeanwhile = false
    /// Whether the files of an earlier operation have been examined, which happens once there is a connection.
    var hasOpened = false
    /// The partial file; `nil` before it is opened, and once it has its final name.
    var partialFile: URL?
    /// The checkpoint.
    var checkpoint: URL?
    /// The number of bytes of an earlier process.
    var bytesRecovered: Int64 = 0
    var restarts: [RestartReason] = []
    /// The response that the bytes belong to; `nil` if there are none, or they cannot be used.
    var content: PartialContent?
    /// Why the bytes of an earlier process cannot be used; they are kept until others have been received.
    var lost: RestartReason?
    /// See ``PartialDownload/isProvable``.
    var isProvable = true
    /// Whether the received bytes are kept if the download ends early.
    var keepsPartialFile = true
    /// Whether the complete file is just getting its name.
    var isNaming = false
    /// The complete file, once it has its name.
    var download: DownloadedFile?
    /// The state of the move by the operation's ``DownloadOperation/mover``.
    var move = Move.notBegun
    /// Returns the current number of bytes; `nil` once the transfer has ended.
    var countNow: @Sendable () -> Int64? = { nil }

    /// Records that the partial files are open.
    mutating func didOpen(_ parts: PartPair) {
        hasOpened = true
        bytesRecovered = parts.current.count
        lost = parts.lost
        continues(with: parts.current)
    }

    /// Records that the partial file is ready for a body.
    mutating func didBegin(_ partial: PartialDownload) {
        if let lost { restarts.append(lost) }
        lost = nil
        continues(with: partial)
    }

    /// Records the current partial file.
    mutating func continues(with partial: PartialDownload) {
        partialFile = partial.partURL
        checkpoint = partial.checkpointURL
        isProvable = partial.isProvable
        content = partial.checkpoint?.partialContent(offset: partial.count)
    }
}
