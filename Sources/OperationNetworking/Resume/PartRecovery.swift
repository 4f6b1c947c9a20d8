internal import OperationNetworkingSystem

/// The recovery of a file that an earlier process did not complete: how much of it is kept. The P rows of files.
///
/// | What there is                                                        | Row       | What happens           |
/// |----------------------------------------------------------------------|-----------|------------------------|
/// | nothing, or an empty file                                            | P1        | begins                 |
/// | bytes without a checkpoint                                           | P2        | not ours: another name |
/// | something in the checkpoint's place that is not ours                 | P2        | another name, and the reason is reported |
/// | a checkpoint of another destination whose partial file may have the same name | P2 | another name         |
/// | an unreadable checkpoint, or one of another format, and bytes        | P2        | another name           |
/// | a checkpoint with another inode or time of birth than the file       | P2        | another name           |
/// | a checkpoint with the file's inode, on a file system without times of birth | P2 | starts over            |
/// | a checkpoint of bytes, and no file, or an empty one                  | P3        | starts over            |
/// | more bytes than are committed                                        | P4        | truncated, see below   |
/// | fewer bytes than are committed, or blocks that have changed          | P5, P6    | truncated after the last block before which all are intact, or starts over |
/// | all bytes                                                            | P7        | kept                   |
/// | bytes with a content coding                                          | P13       | starts over            |
/// | a request with another method, or with a body                        | P15       | starts over            |
/// | a request with other selecting fields                                | P16       | starts over; with a digest of the whole, as for another query |
/// | a request to another scheme, host, port, path or site, unless the caller accepts that, and never from https to http | P17, P19 | starts over |
/// | a request with another query, as another user (``RequestIdentity``), or with other values of fields that the server's `Vary` names (``VaryingFields``) | P16, P17 | kept for comparison if there is a strong tag, otherwise starts over |
/// | a request that verifies its server in another way (``ServerVerification``), unless it does not verify it at all | P21 | starts over |
/// | bytes of a server that only a challenge closure trusted, and no closure is set | P21 | starts over         |
/// | all bytes, some of such a server, and a closure                      | P7, P21   | all but the last byte are kept |
/// | a copy of another program's file, and no digest of the whole         | P20       | starts over            |
/// | all bytes, and a request that differs as in P17                      | P7, P17   | all but the last byte are kept |
/// | all bytes, and an existing file that is to be replaced               | P7        | all but the last byte are kept |
///
/// P2: any server, and any archive, can provide a file with a checkpoint's name and contents, and another user can
/// move a file of ours to the name of a part. None of them can put the inode and time of birth of a file into a
/// checkpoint that belongs to us and that no one else may write.
///
/// P4 truncates what is not committed, because after a loss of power a file may have its length but not its bytes. It
/// does not do so in the session that wrote the file: while the same kernel runs and the file system stays mounted,
/// everything that was written is in the file, in order. If the transfer had stopped, everything received was
/// committed, and another program has appended what follows.
///
/// P6: after a damaged block nothing can be trusted, so blocks count only while all before them are intact.
///
/// P7 sends no request. But if the bytes were complete at another URL or for another user, the request begins before
/// the last byte, and the overlap is compared (S12), because a tag distinguishes versions of one resource (RFC 9110
/// §8.8.1), but not two resources. The last byte is also requested before a file is replaced: the file may be the
/// server's current version, and the part an older one.
///
/// P16: a strong tag decides if only a field differs that `Vary` names. No two representations of a resource share
/// one (RFC 9110 §8.8.1), so a server that would send another variant sends the whole. They may share a date.
///
/// P17 starts over at another server or path, because an equal tag and equal last bytes are evidence against
/// accidents only: both are public, so a hostile mirror can send them. A digest of the whole, or a closure that
/// renews the URL, allows it. Redirects do not count, because a redirector may send each attempt elsewhere.
///
/// P20: only equal last bytes show that such a file is the beginning of the server's, so a digest of the whole has to
/// decide.
///
/// P21 ignores validators: an impostor can send any tag and any last bytes.
///
/// Starting over discards nothing yet: the bytes remain until a response that replaces them has been received.
enum PartRecovery: Hashable, Sendable {
    case begin
    /// The names are taken by files that are not certainly ours, and are left alone. The reason is set if there is a
    /// checkpoint all the same.
    case useOtherName(RestartReason? = nil)
    case startOver(RestartReason)
    /// The number of bytes to keep; the file is truncated after them. Bytes of another question are compared.
    case keep(Int64, isOfOtherQuestion: Bool = false)

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

        let question: DownloadQuestion
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
            let match = checkpoint.match(facts.question)
            if let reason = PartRecovery.objection(to: checkpoint, match, for: facts.question) {
                self = .startOver(reason)
                return
            }
            var length = PartRecovery.trustedLength(checkpoint, facts)
            let isAskedFor =
                length == checkpoint.total
                && (match != .all || facts.replacesFile || facts.question.dependsOnTrust(checkpoint))
            if isAskedFor { length -= 1 }  // P7, P17, P21
            self =
                length > 0
                ? .keep(length, isOfOtherQuestion: match != .all)
                : checkpoint.committed > 0 && !isAskedFor ? .startOver(.dataLost) : .begin
        }
    }

    /// Returns why the bytes are not those of the request; `nil` if they are. `match` is what the request has in common
    /// with that of the checkpoint.
    private static func objection(
        to checkpoint: DownloadCheckpoint,
        _ match: RequestDigests.Match,
        for question: DownloadQuestion
    ) -> RestartReason? {
        let request = question.request
        if checkpoint.isForeign == true, !question.knowsWhole { return .foreignCopy }  // P20
        guard question.accepts(checkpoint) else { return .verificationChanged }  // P21
        let content = checkpoint.partialContent(offset: 0)
        if content.isCoded { return .contentCoded }  // P13
        guard request.method == "GET", !request.hasBody else { return .requestChanged }  // P15
        // P16
        guard question.knowsWhole || match.contains(.selection) else { return .requestChanged }
        if match == .all { return nil }
        if !match.contains(.location) {  // P17, P19
            guard question.takesOtherLocations, !request.isDowngrade(from: checkpoint.request) else {
                return .requestChanged
            }
        }
        // Two representations may share a date; with a digest of the whole, that does no harm.
        if question.knowsWhole { return nil }
        guard case .strongETag = content.validator else { return .requestChanged }  // P17
        return nil
    }

    /// Returns the number of leading bytes that certainly came from the server.
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
