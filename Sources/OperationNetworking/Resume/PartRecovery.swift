internal import OperationNetworkingSystem

/// The recovery of a file that an earlier process did not complete: how much of it is kept.
///
/// The rows P1 to P21 stand beside the decisions; Resuming.md, *The partial file*, has their table and the reasons.
/// Starting over discards nothing yet: the bytes remain until a response that replaces them has been received.
enum PartRecovery: Hashable, Sendable {
    case begin
    /// The names are taken by files that are not certainly ours, and are left alone. The reason is set if there is a
    /// checkpoint all the same.
    case useOtherName(RestartReason? = nil)
    case startOver(RestartReason)
    /// The number of bytes to keep; the file is truncated after them. Bytes of another request are compared.
    case keep(Int64, isOfOtherRequest: Bool = false)

    /// The findings on disk, and the request.
    struct Facts: Sendable {
        /// What was found in the checkpoint's place.
        enum Finding: Sendable {
            case none
            case unreadable
            /// A checkpoint of another format.
            case otherVersion
            /// A file of another user or program, such as a copy.
            case notOurs
            case checkpoint(DownloadCheckpoint)

            var checkpoint: DownloadCheckpoint? {
                if case .checkpoint(let checkpoint) = self { checkpoint } else { nil }
            }
        }

        let downloadRequest: DownloadRequest
        let finding: Finding
        /// Whether the checkpoint belongs to another destination whose partial file may have the same name:
        /// `log.1.part` may belong to `log` and to `log.1`.
        var isOfOtherDestination = false
        /// The identity of the file, which has just been created if there was none.
        let part: LastingFileIdentity
        /// The number of its bytes.
        let size: Int64
        /// The number of leading blocks of the checkpoint that are unchanged.
        var intactBlocks = 0
        /// The current session; `nil` if the system does not identify it.
        var session: String?
        /// Whether a complete file exists, and is to be replaced.
        var replacesFile = false
    }

    init(_ facts: Facts) {
        let size = facts.size
        switch facts.finding {
        case .none:
            self = size == 0 ? .begin : .useOtherName()  // P1, P2
        case .notOurs:
            self = .useOtherName(.checkpointUnproven)  // P2
        case .otherVersion:
            self = .useOtherName(.checkpointUnreadable)  // P2
        case .checkpoint where facts.isOfOtherDestination:
            self = .useOtherName()  // P2
        case .unreadable:
            self = size == 0 ? .begin : .useOtherName(.checkpointUnreadable)  // P2
        case .checkpoint(let checkpoint) where size > 0 && !checkpoint.part.proves(facts.part):
            let isUnknown = checkpoint.part == facts.part
            self = isUnknown ? .startOver(.checkpointUnproven) : .useOtherName(.checkpointUnproven)  // P2
        case .checkpoint(let checkpoint):
            guard size > 0 || checkpoint.committed > 0 else {
                self = .begin
                return
            }
            let match = checkpoint.match(facts.downloadRequest)
            if let reason = PartRecovery.objection(to: checkpoint, match, for: facts.downloadRequest) {
                self = .startOver(reason)
                return
            }
            var length = PartRecovery.trustedLength(checkpoint, facts)
            let isAskedFor =
                length == checkpoint.total
                && (match != .all || facts.replacesFile || facts.downloadRequest.dependsOnTrust(checkpoint))
            if isAskedFor { length -= 1 }  // P7, P17, P21
            self =
                length > 0
                ? .keep(length, isOfOtherRequest: match != .all)
                : checkpoint.committed > 0 && !isAskedFor ? .startOver(.dataLost) : .begin
        }
    }

    /// Returns why the bytes are not those of the request; `nil` if they are. `match` is what the request has in common
    /// with that of the checkpoint.
    private static func objection(
        to checkpoint: DownloadCheckpoint,
        _ match: RequestDigests.Match,
        for downloadRequest: DownloadRequest
    ) -> RestartReason? {
        let request = downloadRequest.request
        if checkpoint.isForeign == true, !downloadRequest.knowsWhole { return .foreignCopy }  // P20
        guard downloadRequest.accepts(checkpoint) else { return .verificationChanged }  // P21
        let content = checkpoint.partialContent(offset: 0)
        if content.isCoded { return .contentCoded }  // P13
        guard request.method == "GET", !request.hasBody else { return .requestChanged }  // P15
        // P16
        guard downloadRequest.knowsWhole || match.contains(.selection) else { return .requestChanged }
        if match == .all { return nil }
        if !match.contains(.location) {  // P17, P19
            guard downloadRequest.takesOtherLocations, !request.isDowngrade(from: checkpoint.request) else {
                return .requestChanged
            }
        }
        // Two representations may share a date; with a digest of the whole, that does no harm.
        if downloadRequest.knowsWhole { return nil }
        guard case .strongETag = content.validator else { return .requestChanged }  // P17
        return nil
    }

    /// Returns the number of leading bytes that certainly came from the server.
    ///
    /// After a damaged block nothing can be trusted, so blocks count only while all before them are intact (P6). After a
    /// loss of power, a file may have its length but not its bytes, so what is not committed does not count (P4). In the
    /// session that wrote the file, everything written is in it, in order; but if the transfer had stopped, everything
    /// received was committed, and another program has appended what follows.
    private static func trustedLength(_ checkpoint: DownloadCheckpoint, _ facts: Facts) -> Int64 {
        let blocks = checkpoint.blocks.prefix(facts.intactBlocks)
        guard blocks.count == checkpoint.blocks.count, facts.size >= checkpoint.committed else {
            return min(blocks.last?.end ?? 0, facts.size)  // P3, P5, P6
        }
        // After a gap, the length means nothing.
        return checkpoint.isAtRest != true && checkpoint.ranges.isPrefix && isSameSession(checkpoint, facts)
            ? min(facts.size, checkpoint.total ?? .max) : checkpoint.committed
    }

    /// Whether the file was written since the kernel booted, through the same mount.
    private static func isSameSession(_ checkpoint: DownloadCheckpoint, _ facts: Facts) -> Bool {
        facts.session != nil && facts.session == checkpoint.session
    }
}
