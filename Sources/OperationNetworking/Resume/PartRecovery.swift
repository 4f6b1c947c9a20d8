internal import OperationNetworkingSystem

/// The recovery of a file that an earlier process did not complete: how much of it is kept. The P rows of
/// files.
///
/// | What there is                                                        | Row       | What becomes of it     |
/// |----------------------------------------------------------------------|-----------|------------------------|
/// | nothing, or an empty file                                            | P1        | begun                  |
/// | bytes, and no checkpoint                                             | P2        | not ours: another name |
/// | a file or anything else in the checkpoint's place that is not ours   | P2        | another name           |
/// | a checkpoint of another destination, whose partial file can have this name, too | P2 | another name     |
/// | a checkpoint that cannot be read, or of another version, and bytes   | P2        | another name           |
/// | one that does not name the file by its inode and time of birth       | P2        | another name           |
/// | one that names the inode, where the file system tells no such time   | P2        | begun anew             |
/// | a checkpoint of bytes, and no file                                   | P3        | begun anew             |
/// | more bytes than are committed                                        | P4        | cut, see below         |
/// | fewer bytes than are committed; blocks that are not as they were     | P5, P6    | cut behind the last block before which all are, else begun anew |
/// | all bytes                                                            | P7        | kept                   |
/// | bytes of a content coding                                            | P13       | begun anew             |
/// | a request with another method, or a body                             | P15       | begun anew             |
/// | a request with other selecting fields                                | P16       | begun anew; with a digest of the whole as another address |
/// | a request to another scheme, host, port or path, unless the caller takes bytes of another one, and not from https to http | P17 | begun anew |
/// | a request with another query, as another user (``RequestIdentity``), or with another value of a field that the server's `Vary` names (``VaryingFields``) | P16, P17 | kept to be compared under a strong tag, else begun anew |
/// | a request that verifies its server in another way (``ServerVerification``), unless it does not verify it at all | P21 | begun anew |
/// | bytes of a server that only a challenge's closure trusted, and none is set | P21 | begun anew            |
/// | all bytes, some of such a server, and a closure                      | P7, P21   | all but the last one kept |
/// | a copy of another program's file, with the server's bytes behind it, and no digest of the whole | P20 | begun anew |
/// | all bytes, and such a request                                        | P7, P17   | all but the last one kept |
/// | all bytes, and a file that has the name and is to be replaced        | P7        | all but the last one kept |
///
/// P4 cuts away what is not committed, since a loss of power may have left a length without its bytes. Not in
/// the session that wrote it: as long as the same kernel runs and the file system stays mounted, whatever was
/// written is in the file, in order, whether it is on the disk or not. A process that was only killed loses
/// nothing then. Nor, if the transfer had stopped before, does it lose anything by a cut: all that came was
/// committed, and what is behind it another program has appended.
///
/// P6 would step back to the last block that verifies. A damaged block says that nothing behind it can be
/// trusted either, so blocks count only as far as all before them do.
///
/// P2: any server, and any archive, can bring a file with a checkpoint's name and bytes, and another user can put a
/// file of ours under the name of a part. None of them can name inode and time of birth of a file in a checkpoint that
/// belongs to us and that no one else may write.
///
/// A strong tag decides where only a field differs that `Vary` names: no two representations of a resource share one
/// (RFC 9110 section 8.8.1), so a server that would send another variant sends the whole of it. They may share a date.
///
/// P7 asks no server. What was complete at another address, or for another user, has to be asked for, from a
/// little before its last byte: a tag tells versions of one resource apart (RFC 9110 section 8.8.1), and not
/// two resources, so the overlap is compared (S12). The server is asked for the last byte, too, before a file
/// is replaced: that may be the version that the server has now, and the part one of before.
///
/// P17 starts over at another server, and at another path, for an equal tag and equal last bytes are evidence
/// against accidents alone: both are public, so a hostile mirror can send them, too. A digest of the whole, a
/// closure that renews the address, and bytes that the caller wants compared ask for it. Where redirects lead
/// does not count: a redirector sends each attempt elsewhere.
///
/// P20: nothing but equal last bytes says that such a file is the beginning of what the server has, so only a
/// digest of the whole decides.
///
/// P21 looks at no validator: who can answer for any server can send any tag, and any last bytes.
///
/// *Begun anew* throws nothing away yet: the bytes stay until a response has come that replaces them.
enum PartRecovery: Hashable, Sendable {
    case begin
    /// The names are taken by what is not certainly ours, and stays. A reason: a checkpoint is there all the same.
    case useOtherName(RestartReason? = nil)
    case startOver(RestartReason)
    /// The number of bytes from the first one on; the file is cut behind them. Those of another question are
    /// compared.
    case keep(Int64, isOfOtherQuestion: Bool = false)

    /// The findings on the disk.
    struct Facts: Sendable {
        /// The finding in the checkpoint's place.
        enum Finding: Sendable {
            case none
            case unreadable
            /// A checkpoint of another version.
            case otherVersion
            /// A file that another user or program put there.
            case notOurs
            /// A file of the user's that no download wrote: a copy, or what a program saved.
            case unmarked
            case checkpoint(DownloadCheckpoint)

            var checkpoint: DownloadCheckpoint? {
                if case .checkpoint(let checkpoint) = self { checkpoint } else { nil }
            }
        }

        let request: RequestRecord
        /// What it has in common with the request before.
        var match = RequestDigests.Match.all
        /// Whether the servers that brought the bytes are good enough for it (``ServerVerification``).
        var isVerified = true
        /// Whether that is known only when a closure trusts a server again.
        var dependsOnTrust = false
        /// Whether the caller takes bytes that came for another scheme, host, port or path.
        var takesOtherLocations = false
        /// Whether the caller has a digest of the whole, which decides in the end.
        var knowsWhole = false
        let finding: Finding
        /// Whether the checkpoint is of another destination, and its partial file can have this name, too:
        /// `log.1.part` is one of `log` as well as of `log.1`.
        var isOfOtherDestination = false
        /// The status of the file; `nil` if there is none.
        let part: FileStatus?
        /// When it was made; `nil` if the file system does not tell.
        var birth: FileBirth?
        /// The number of the checkpoint's blocks, from the first on, that are unchanged.
        var intactBlocks = 0
        /// The session now; `nil` if the system does not tell.
        var session: String?
        /// Whether a file has the name of the complete one, and is to be replaced.
        var replacesFile = false
    }

    init(_ facts: Facts) {
        let size = facts.part?.size ?? 0
        switch facts.finding {
        case .none:
            self = size == 0 ? .begin : .useOtherName()  // P1, P2
        case .notOurs:
            self = .useOtherName()  // P2
        case .unmarked:
            self = .useOtherName(.checkpointUnproven)  // P2
        case .otherVersion:
            self = .useOtherName(.checkpointUnreadable)  // P2
        case .checkpoint where facts.isOfOtherDestination:
            self = .useOtherName()  // P2
        case .unreadable:
            self = size == 0 ? .begin : .useOtherName(.checkpointUnreadable)  // P2
        case .checkpoint(let checkpoint) where size > 0 && !PartRecovery.isNamed(by: checkpoint, facts):
            let isUnknown =
                checkpoint.birth == nil && facts.birth == nil
                && checkpoint.part.inode == facts.part?.identity.inode
            self = isUnknown ? .startOver(.checkpointUnproven) : .useOtherName(.checkpointUnproven)  // P2
        case .checkpoint(let checkpoint):
            guard size > 0 || checkpoint.committed > 0 else {
                self = .begin
                return
            }
            let isSameQuestion = facts.match == .all
            if let reason = PartRecovery.objection(to: checkpoint, for: facts) {
                self = .startOver(reason)
                return
            }
            var length = PartRecovery.trustedLength(checkpoint, facts)
            let isAskedFor =
                length == checkpoint.total
                && (!isSameQuestion || facts.replacesFile || facts.dependsOnTrust)
            if isAskedFor { length -= 1 }  // P7, P17, P21
            self =
                length > 0
                ? .keep(length, isOfOtherQuestion: !isSameQuestion)
                : checkpoint.committed > 0 && !isAskedFor ? .startOver(.dataLost) : .begin
        }
    }

    /// The reason why the bytes are not those that the request asks for.
    private static func objection(
        to checkpoint: DownloadCheckpoint,
        for facts: Facts
    ) -> RestartReason? {
        let request = facts.request
        if checkpoint.isForeign == true, !facts.knowsWhole { return .foreignCopy }  // P20
        guard facts.isVerified else { return .verificationChanged }  // P21
        let content = checkpoint.partialContent(offset: 0)
        if content.isCoded { return .contentCoded }  // P13
        guard request.method == "GET", !request.hasBody else { return .requestChanged }  // P15
        // P16
        guard facts.knowsWhole || facts.match.contains(.selection) else { return .requestChanged }
        if facts.match == .all { return nil }
        if !facts.match.contains(.location) {  // P17, P19
            guard facts.takesOtherLocations, !request.isDowngrade(from: checkpoint.request) else {
                return .requestChanged
            }
        }
        // Two answers may share a date; with a digest of the whole that does no harm.
        if facts.knowsWhole { return nil }
        guard case .strongETag = content.validator else { return .requestChanged }  // P17
        return nil
    }

    /// Whether the checkpoint is that of the file.
    private static func isNamed(by checkpoint: DownloadCheckpoint, _ facts: Facts) -> Bool {
        checkpoint.birth != nil && checkpoint.birth == facts.birth
            && checkpoint.part.inode == facts.part?.identity.inode
    }

    /// The number of bytes, from the first on, that are known to be the server's.
    private static func trustedLength(_ checkpoint: DownloadCheckpoint, _ facts: Facts) -> Int64 {
        guard let part = facts.part else { return 0 }  // P3
        let blocks = checkpoint.blocks.prefix(facts.intactBlocks)
        guard blocks.count == checkpoint.blocks.count, part.size >= checkpoint.committed else {
            return min(blocks.last?.end ?? 0, part.size)  // P5, P6
        }
        // P4, P7
        // Behind a gap the length says nothing.
        return checkpoint.isAtRest != true && checkpoint.ranges.isPrefix && isSameSession(checkpoint, facts)
            ? min(part.size, checkpoint.total ?? .max) : checkpoint.committed
    }

    /// Whether the file is being written, or was, by this run of the kernel, by way of this mount.
    private static func isSameSession(_ checkpoint: DownloadCheckpoint, _ facts: Facts) -> Bool {
        facts.session != nil && facts.session == checkpoint.session && facts.part?.identity == checkpoint.part
    }
}
