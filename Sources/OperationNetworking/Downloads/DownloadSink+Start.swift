import Foundation

extension DownloadSink {
    /// The state that the network thread and the queue share, under a lock.
    ///
    /// | `failure`          | bytes come | the transfer ends, is tried again | the user starts, or resumes |
    /// |--------------------|------------|-----------------------------------|-----------------------------|
    /// | none               | taken      | goes on                           | goes on                     |
    /// | there is no room   | refused    | is the operation's error          | forgotten: goes on          |
    /// | any other          | refused    | is the operation's error          | is the operation's error    |
    ///
    /// Only an operation that was paused when there was no room comes to the second row's end: one that runs
    /// has ended by then.
    struct Shared {
        var waiting: [UInt8] = []
        var pace = WritePace()
        /// Bodies that the file is not ready for yet. One may have been given up, and the next one be waited
        /// for.
        var preparations = 0
        /// Bytes of the file, with those that wait, without those that are compared. From the moment that a
        /// body begins anew there are none: what is on the disk is cut away before a byte comes, or is there
        /// again with a failure.
        var held = StoredBytes()
        /// The bytes that are kept besides, as far as they can be gone back to.
        var kept: StoredBytes?
        /// Bytes that are still to be compared.
        var again: Int64 = 0
        var isAbandoned = false
        var hasStopped = false
        var failure: (any Error)?
        /// Why no body can be saved.
        var refusal: DownloadError?
        var demand: RestartReason?
        var onChange: (@Sendable () -> Void)?

        var isFull: Bool { preparations > 0 || waiting.count >= DownloadSink.capacity }

        /// The bytes that are kept are those of the file again.
        mutating func goBack(to kept: StoredBytes) {
            held = kept
            self.kept = nil
            waiting = []
            again = 0
        }

        /// The user wants it to go on, and may have made room.
        mutating func goOn() {
            if let failure, DiskRoom.isLack(failure) { self.failure = nil }
        }
    }
}

extension DownloadPlan {
    /// Looks at the file that is there, and reads all of it if there are digests.
    func condition(for file: URL, digests: [FileDigest] = []) throws -> FileCondition? {
        try FileCondition(for: file, request: request, as: identity, under: verification, digests: digests)
    }

    /// Finds what an earlier process left, or makes a new file.
    func parts(of destination: URL) throws -> PartPair {
        try PartPair(
            request,
            as: identity,
            under: verification,
            asksAboutServers: asksAboutServers,
            to: destination,
            replacesFile: options.mayReplace,
            takesOtherLocations: takesOtherLocations,
            knowsWhole: !options.expectedDigests.isEmpty,
            comparing: options.overlap
        )
    }

    /// The complete file that is to be replaced; `nil`: there is none, or it is of another request.
    func replaced(_ destination: URL) throws -> KeptBody? {
        guard options.mayReplace else { return nil }
        return try KeptBody(
            file: destination,
            of: request,
            as: identity,
            under: verification,
            isToBeNewer: options.downloadsOnlyIfChanged
        )
    }
}

extension BodyStart {
    /// The response, as a checkpoint has it.
    var origin: DownloadCheckpoint.Response {
        DownloadCheckpoint.Response(
            url: url.absoluteString,
            fields: head.fields,
            isHTTP10: head.version == "HTTP/1.0"
        )
    }
}

extension PartialDownload.Place {
    init(_ place: BodyStart.Place) {
        self =
            switch place {
            case .start: .start
            case .end: .end
            case .again(let offset): .again(from: offset)
            }
    }
}

extension ResponseHead {
    /// Whether the end of the body can be told from its being cut off.
    var marksEnd: Bool {
        fields.contentLength != nil || (try? MessageLength.isChunked(fields)) == true
    }
}
