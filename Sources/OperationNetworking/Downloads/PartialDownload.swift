internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The file of one download, from the first byte until it has its name, with the order of writes.
///
/// Used on one queue, where it may wait for the disk; never on the network thread. The partial file is locked until
/// ``close()``.
///
/// ```
/// open ─ begin ─ write … write ─ flush ─ begin ─ write … write ─ finish
/// ```
///
/// After any error, it can be flushed, begun again, closed or discarded.
final class PartialDownload {
    /// The intervals of checkpoints while bytes are received, in seconds and bytes.
    private enum Pace {
        static let shortest = 1.0
        static let longest = 5.0
        static let bytes: Int64 = 16 << 20
    }

    /// The bytes of an earlier process, for the request; `nil` if none can be resumed, or others have replaced them.
    private(set) var recovered: PartialContent?
    /// Why bytes of an earlier process are not resumed.
    let lost: RestartReason?
    /// Whether a later process can recognize the file as ours. If not, it is unusable after this one ends.
    let isProvable: Bool
    /// The checkpoint of the bytes, on disk or about to be; `nil` if there are none.
    private(set) var checkpoint: DownloadCheckpoint?

    private let target: DownloadTarget
    /// See ``DownloadCheckpoint/generation``.
    let generation: Int
    /// The names of the file and its checkpoint.
    let names: PartialName.Candidate
    private let file: PartFile
    /// The boot, the mount and the device under which the file is written.
    private let session: String?
    /// The last written checkpoint file, if any.
    private var savedCheckpoint: FileIdentity?
    private var extent: PartExtent
    /// Whether the file or the checkpoint on disk contains something that does not belong to the next bytes.
    private var isTainted: Bool
    private var lastCommit: MonotonicTime
    private var hasNotes = false
    /// The file's length and times when the last transfer had stopped; `nil` once the next body has begun. The length
    /// is `count`, plus what a failed write may have left.
    private var atRest: (length: Int64, times: FileTimes)?
    /// Whether the servers of the bytes are trusted, which a closure may decide before a body begins.
    private var isTrusted: Bool
    private var room: DiskSpace
    private var failure: (any Error)?
    private var isClosed = false

    /// - Parameters:
    ///   - found: the file, open and locked.
    ///   - target: the target of the download.
    ///   - generation: the number of parts that were begun before, each to replace the previous one.
    init(_ found: FoundPart, for target: DownloadTarget, generation: Int) {
        self.target = target
        self.generation = generation
        names = found.names
        file = found.file
        session = target.environment.session(found.file)
        checkpoint = found.checkpoint
        recovered = found.recovered
        lost = found.lost
        isProvable = found.isProvable
        extent = PartExtent(count: found.length, total: recovered?.total)
        isTainted = found.isTainted
        lastCommit = target.environment.clock()
        isTrusted = found.checkpoint.map { !target.downloadRequest.dependsOnTrust($0) } ?? true
        room = DiskSpace(target.place, found)
    }

    /// The partial file.
    var partURL: URL { target.place.sibling(names.part) }
    /// The URL of the checkpoint.
    var checkpointURL: URL { target.place.sibling(names.checkpoint) }
    /// The number of bytes before the first missing one.
    var count: Int64 { extent.count }
    /// The offset of the next byte of a body; less than ``count`` while bytes are compared.
    var position: Int64 { extent.position }
    /// The length of the whole; `nil` if unknown.
    var total: Int64? { extent.total }
    /// The number of bytes that a later process will certainly find.
    var committed: Int64 { checkpoint?.committed ?? 0 }

    /// Returns a closure that reads the file on any queue while it is written here.
    func reader() throws -> DigestFollower.Reader {
        let reader = try translating { try file.reader() }
        return { offset, buffer in try reader.read(into: &buffer, at: offset) }
    }

    // MARK: - Receiving

    /// Prepares for a body whose head was accepted.
    ///
    /// - Parameters:
    ///   - place: the place of its first byte.
    ///   - total: the length of the whole; `nil` if the head does not say it. Free space is checked.
    ///   - origin: the response.
    ///   - servers: the servers that only the challenge closure trusts, as digests.
    ///   - note: adds the caller's facts to the checkpoint.
    /// - Throws: ``DownloadError``, or a `CocoaError`; ``UntrustedBytesError`` before anything is changed.
    func begin(
        _ place: BodyStart.Place,
        total: Int64?,
        origin: DownloadCheckpoint.Response,
        trusting servers: Set<String> = [],
        note: (inout DownloadCheckpoint) -> Void = { _ in }
    ) throws {
        if !place.isStart, let checkpoint, !target.downloadRequest.trusts(checkpoint, servers) {
            throw UntrustedBytesError()
        }
        isTrusted = true
        func noteAll(_ checkpoint: inout DownloadCheckpoint) {
            checkpoint.note(target.downloadRequest.verification, trusting: servers)
            note(&checkpoint)
        }
        atRest = nil
        try translating {
            try room.check(for: total)
            switch place {
            case .end where checkpoint != nil, .again where checkpoint != nil: try resume(total, noteAll)
            // Without a checkpoint, there are no bytes.
            case .start, .end, .again: try startOver(total, origin, noteAll)
            }
            extent.begin(again: place.overlap)
            try room.begin(at: count, total: total)
            lastCommit = target.environment.clock()
            failure = nil
        }
    }

    /// Accepts the next bytes of the body.
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - offset: the offset of the first one in the whole.
    /// - Throws: ``OverlapDifference``, ``DownloadError``, or a `CocoaError`; the same error for every later piece.
    func write(_ bytes: Span<UInt8>, at offset: Int64) throws {
        if let failure { throw failure }
        do {
            let known = extent.known(of: bytes.count, at: offset)
            try compare(bytes.extracting(..<known), at: offset)
            let new = bytes.extracting(known...)
            guard !new.isEmpty else { return }
            try put(new, at: offset + Int64(known))
            let interval = target.environment.clock() - lastCommit
            if interval >= Pace.shortest, interval >= Pace.longest || count - committed >= Pace.bytes {
                try commit()
            }
        } catch {
            let error = FileError.foundation(error, partURL)
            failure = error
            throw error
        }
    }

    /// Writes bytes. If the disk accepts only some, they are kept: a full disk is filled.
    private func put(_ bytes: Span<UInt8>, at offset: Int64) throws {
        // Another program has truncated it, or appended to it.
        guard try file.status.size == extent.end else {
            throw DownloadError.partialFileReplaced(partURL)
        }
        if checkpoint?.isAtRest == true { try clearAtRest() }
        room.extend(to: offset + Int64(bytes.count))
        do {
            try file.write(bytes, at: offset)
            extent.insert(bytes.count, at: offset)
        } catch {
            // The first error is reported.
            extent.insert(atMost: bytes.count, at: offset, size: try? file.status.size)
            throw error
        }
    }

    /// Records in the checkpoint that bytes follow the committed ones.
    private func clearAtRest() throws {
        guard var next = checkpoint else { return }
        next.isAtRest = nil
        // Durable, because a loss of power may keep the new name, but not its contents.
        try save(next, isDurable: true)
    }

    private func compare(_ bytes: Span<UInt8>, at offset: Int64) throws {
        guard !bytes.isEmpty else { return }
        let there = try file.read(bytes.count, at: offset)
        guard there.count == bytes.count, bytes.indices.allSatisfy({ bytes[$0] == there[$0] }) else {
            throw OverlapDifference(offset: offset)
        }
        extent.didCompare(bytes.count, at: offset)
    }

    /// Begins with a copy of the existing file of another program, which stays unchanged (P20). Nothing is known
    /// about it: a digest of the whole decides in the end.
    /// - Parameter isWanted: called before each piece. If it returns `false`, the copy and the partial file are
    ///   removed.
    /// - Throws: ``DownloadError``, a `CocoaError`; `URLError.cancelled`.
    func adopt(while isWanted: () -> Bool = { true }) throws {
        let url = target.place.url
        guard
            let foreign = try FileError.translating(
                url,
                { try NotedFile(path: url.path, attribute: FileRecord.attribute) }
            )
        else { return }
        let origin = DownloadCheckpoint.Response(
            url: target.downloadRequest.request.url,
            fields: [:],
            isHTTP10: false
        )
        try begin(.start(nil), total: nil, origin: origin) { checkpoint in
            checkpoint.isJoinedByOverlap = true
            checkpoint.isForeign = true
        }
        while true {
            guard isWanted() else {
                try discard()
                throw URLError(.cancelled)
            }
            let piece = try FileError.translating(url) { try foreign.read(1 << 20, at: count) }
            guard !piece.isEmpty else { break }
            try write(piece.span, at: count)
        }
        try flush()
    }

    /// Whether it began with a copy of another program's file.
    var isForeign: Bool { checkpoint?.isForeign == true }

    // MARK: - The end

    /// Writes the received bytes to disk, because the transfer has stopped.
    ///
    /// If another program has changed the length of the file, the bytes after the committed ones are unknown. The
    /// checkpoint then records that, so that a later process does not mistake them for the server's.
    func flush() throws {
        guard !isClosed else { return }
        do {
            defer { room.giveBack(behind: extent.end) }
            try translating {
                do {
                    try commit(isAtRest: true)
                } catch DownloadError.partialFileReplaced(let url) {
                    if hasName { try? saveAtRest() }
                    throw DownloadError.partialFileReplaced(url)
                }
                try saveAtRest()
            }
        }
        // Not again if no transfer has begun since: another program may have written in between.
        guard atRest == nil, let length = try? file.status.size, let times = try? file.times else {
            return
        }
        atRest = (length, times)
    }

    /// Records in the checkpoint that only committed bytes count.
    private func saveAtRest() throws {
        guard var checkpoint, hasNotes || checkpoint.isAtRest != true else { return }
        checkpoint.isAtRest = true
        try save(checkpoint, isDurable: true)
    }

    /// Whether another program may have changed bytes since the last transfer stopped, by the file's length and
    /// times, which cost nothing to read. If the times differ, the blocks of the checkpoint are read.
    /// - Throws: ``DownloadError/partialFileReplaced(_:)`` if the length, or a block, has changed (B12).
    func isTouched() throws -> Bool {
        guard let atRest, let checkpoint else { return false }
        return try translating {
            // Whatever the times are: two changes within a few milliseconds may have the same one.
            guard try file.status.size == atRest.length else {
                throw DownloadError.partialFileReplaced(partURL)
            }
            guard try file.times != atRest.times else { return false }
            guard try checkpoint.blocks.allSatisfy({ try $0.isIntact(in: file) }) else {
                throw DownloadError.partialFileReplaced(partURL)
            }
            return true
        }
    }

    /// Gives the complete file its name, and closes it (B9).
    ///
    /// - Parameters:
    ///   - modified: the time of its last modification, in seconds since 1970; `nil` for now.
    ///   - record: creates the record that is kept with the file.
    ///   - beforeNaming: called when everything but the name and the final mode is on disk.
    ///   - afterNaming: called when the name is on disk. A process that is killed during the call leaves a checkpoint
    ///     next to the file.
    /// - Throws: ``DownloadError``, ``UntrustedBytesError``, or a `CocoaError`; the partial file is then kept.
    func finish(
        modified: Int64?,
        record: (PartFile) -> FileRecord? = { _ in nil },
        beforeNaming: () throws -> Void = {},
        afterNaming: () -> Void = {}
    ) throws {
        guard isTrusted else { throw UntrustedBytesError() }
        try translating {
            guard extent.isComplete else {
                throw DownloadError.incomplete(
                    target.place.url,
                    received: extent.position,
                    expected: max(total ?? 0, count)
                )
            }
            try checkIdentity(length: count)
            room.giveBack(behind: extent.end)
            // A time that the file system cannot store is no reason to fail.
            if let modified { try? file.setModified(modified) }
            // Nor is a file system without attributes: the file then has no record. The rename does not change the
            // time.
            let text = try? record(file)?.text
            try? file.note(text, as: FileRecord.attribute)
            do {
                try rollingBack { try file.synchronize() }
                try beforeNaming()
                // The last step before the name: a process that is killed in between may leave a part that others may
                // write. It reaches the disk with the name.
                try file.grant(target.place.folder.access(to: file, named: target.place.name))
                // A killed process may have left it. While the part has its name and its lock, no other process
                // writes one.
                try? target.place.folder.remove(names.temporary)
                try rename()
            } catch {
                file.restrict()
                throw error
            }
            close()
            try target.place.folder.synchronize()
            afterNaming()
            // A leftover next to the file does no harm.
            try? removeCheckpoint()
        }
    }

    /// Discards what was received after the bytes of an earlier process.
    /// - Parameter digest: the digest of the whole, if it was wrong: see ``DownloadCheckpoint/refutedDigest``.
    /// - Throws: a `CocoaError` if writing fails.
    func rollBackToRecovered(refuting digest: FileDigest?) throws {
        guard let recovered, var checkpoint, digest != nil || recovered.offset < count else { return }
        if let digest { checkpoint.refutedDigest = digest }
        try translating {
            // First, so that bytes which a killed process does not truncate do not count.
            checkpoint.rollBack(to: recovered.offset)
            checkpoint.isAtRest = true
            try save(checkpoint, isDurable: true)
            guard recovered.offset < count else { return }
            extent.cut(to: recovered.offset)
            atRest = nil
            try truncateToExtent()
            try file.synchronizeData()
        }
    }

    /// Allows its rest to be requested again, if the server's whole has the digest that the file of these bytes had.
    func clearRefutation(by digest: FileDigest) throws {
        guard var checkpoint, checkpoint.refutedDigest == digest else { return }
        checkpoint.refutedDigest = nil
        try translating { try save(checkpoint, isDurable: true) }
    }

    /// Whether a file that began with these bytes had a wrong digest.
    var isRefuted: Bool { checkpoint?.refutedDigest != nil }

    /// Removes the partial file and its checkpoint. Bytes to which the user has given another name stay.
    func discard() throws {
        guard !isClosed else { return }
        try translating {
            // Bytes without a checkpoint would count as another program's.
            if hasName, try file.status.links == 1 { try file.truncate(to: 0) }
            close()
        }
    }

    /// Closes the file, and removes it if it is empty.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        room.giveBack(behind: extent.end)
        defer { file.close() }
        guard let status = try? file.status, status.size == 0, hasName else { return }
        // Leftovers are removed by the next download.
        for name in [names.temporary, names.checkpoint, names.part] { try? target.place.folder.remove(name) }
    }

    // MARK: - Names

    /// Whether the name still refers to the file.
    private var hasName: Bool { (try? target.place.folder.isName(names.part, of: file)) == true }

    /// Checks that the name still refers to the file, and that the file has `length` bytes (B12).
    /// - Throws: ``DownloadError/partialFileReplaced(_:)`` if not.
    private func checkIdentity(length: Int64) throws {
        guard hasName, try file.status.size == length else {
            throw DownloadError.partialFileReplaced(partURL)
        }
    }

    /// Renames the file to the name of the complete one.
    private func rename() throws {
        let place = target.place
        do {
            guard target.mayReplace else {
                return try place.folder.renameExclusively(names.part, to: place.name, of: file)
            }
            try place.folder.rename(names.part, replacing: place.name, of: file) {
                try place.check(replacing: true)
            }
        } catch is FileClaim.Taken {
            throw DownloadError.inUse(place.url)
        } catch let error as SystemError where error.code == SystemError.exists {
            throw DownloadError.destinationExists(place.url)
        } catch let error as SystemError where error.code == SystemError.replaced {
            throw DownloadError.partialFileReplaced(partURL)
        }
        // In a folder where others may rename our files, another file may have been renamed.
        guard (try? place.folder.isName(place.name, of: file)) == true else {
            throw DownloadError.partialFileReplaced(partURL)
        }
    }

    /// Removes our checkpoint after the rename. Another process may have begun again, because the name of the part is
    /// free.
    private func removeCheckpoint() throws {
        guard case .file(let status) = try target.place.folder.status(of: names.checkpoint),
            savedCheckpoint == nil || savedCheckpoint == status.identity
        else { return }
        try target.place.folder.remove(names.checkpoint)
    }

    // MARK: - Checkpoints

    /// Commits all bytes: writes first the bytes, then the checkpoint, then its name to disk.
    private func commit(isAtRest: Bool = false) throws {
        guard var next = checkpoint, count > next.committed else { return }
        try checkIdentity(length: extent.end)
        try rollingBack { try file.synchronizeData() }
        let length = Int(min(count, Int64(DownloadCheckpoint.Block.maximumLength)))
        let bytes = try file.read(length, at: count - Int64(length))
        guard bytes.count == length else { throw DownloadError.partialFileReplaced(partURL) }
        let digest = try bytes.span.sha256Text()
        next.commit(extent.ranges, DownloadCheckpoint.Block(end: count, length: length, digest: digest))
        next.isAtRest = isAtRest ? true : nil
        try save(next, isDurable: true)
        lastCommit = target.environment.clock()
    }

    private func save(_ next: DownloadCheckpoint, isDurable: Bool) throws {
        var next = next
        next.part = file.lastingIdentity
        next.session = session
        // Some file systems, such as FAT, show to others what was created with mode 0600.
        let isPrivate = try file.status.mode & 0o077 == 0
        let saved = isPrivate ? next : next.withoutQueries
        savedCheckpoint = try target.place.folder.save(saved, names, isDurable: isDurable)
        checkpoint = next
        hasNotes = false
    }

    /// Discards what is not committed if `synchronize` fails, because the bytes on disk are then unknown (B7).
    private func rollingBack(_ synchronize: () throws -> Void) throws {
        do {
            try synchronize()
        } catch {
            extent.cut(to: committed)
            // The file is truncated here, too.
            atRest = nil
            // The first error is reported. The next begin truncates bytes that stay.
            try? truncateToExtent()
            throw error
        }
    }

    /// Truncates what a failed write has left after the counted bytes. If the file is too short, another program has
    /// truncated it, and extending it would replace bytes by zeros.
    private func truncateToExtent() throws {
        let size = try file.status.size
        guard size >= extent.end else { throw DownloadError.partialFileReplaced(partURL) }
        if size > extent.end { try file.truncate(to: extent.end) }
    }

    /// Discards all bytes, and leaves nothing on disk that could be mistaken for the next ones.
    private func startOver(
        _ total: Int64?,
        _ origin: DownloadCheckpoint.Response,
        _ note: (inout DownloadCheckpoint) -> Void
    ) throws {
        var next = try DownloadCheckpoint(
            target.downloadRequest,
            origin: origin,
            total: total,
            part: file.lastingIdentity,
            session: session
        )
        next.generation = generation > 0 ? generation : nil
        note(&next)
        let isClean = try !isTainted && count == 0 && committed == 0 && file.status.size == 0
        if !isClean {
            isTainted = true
            checkpoint = nil
            recovered = nil
            extent.cut(to: 0)
            try file.truncate(to: 0)
            try file.synchronizeData()
        }
        // A first checkpoint claims no bytes, so it may get lost. One that replaces another has to be on disk before
        // the first byte, because the old one would describe the new bytes.
        try save(next, isDurable: !isClean)
        isTainted = false
        extent.total = total
    }

    private func resume(_ total: Int64?, _ note: (inout DownloadCheckpoint) -> Void) throws {
        guard var next = checkpoint else { return }
        try truncateToExtent()
        next.total = total ?? next.total
        note(&next)
        // Later bytes are kept even without another checkpoint, so these facts have to be on disk before them.
        let isLessProven =
            next.isJoinedByOverlap != checkpoint?.isJoinedByOverlap
            || next.isOfSeveralLocations != checkpoint?.isOfSeveralLocations
            || next.verification != checkpoint?.verification
            || next.trustedServers != checkpoint?.trustedServers
        // A later process has to know that the file is being written in this session.
        if next.session != session || isLessProven {
            // If this fails, the next begin saves it.
            try save(next, isDurable: true)
        } else {
            checkpoint = next
            hasNotes = true
        }
        extent.total = next.total
    }

    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        try FileError.translating(partURL, body)
    }
}

/// The bytes of a partial file: those that exist, the length of the whole, and the offset of the next one.
struct PartExtent {
    /// The bytes in the file.
    private(set) var ranges: ByteRanges
    /// The length of the whole; `nil` if unknown.
    var total: Int64?
    /// The offset after the last received byte.
    private(set) var position: Int64

    init(count: Int64, total: Int64?) {
        ranges = ByteRanges(upTo: count)
        self.total = total
        position = count
    }

    /// The number of bytes before the first missing one.
    var count: Int64 { ranges.prefix }

    /// The length of the file.
    var end: Int64 { ranges.end }

    var isComplete: Bool { ranges.isPrefix && position == end && total.map { $0 == end } ?? true }

    /// Sets the offset of the next byte: after the others, or `offset`, within them.
    mutating func begin(again offset: Int64?) {
        position = offset.map { min(max($0, 0), count) } ?? count
    }

    /// Returns how many of the `length` bytes at `offset` already exist.
    func known(of length: Int, at offset: Int64) -> Int { Int(min(Int64(length), max(0, count - offset))) }

    /// Records that bytes were compared.
    mutating func didCompare(_ length: Int, at offset: Int64) {
        position = offset + Int64(length)
    }

    /// Records that bytes were written.
    mutating func insert(_ length: Int, at offset: Int64) {
        position = offset + Int64(length)
        ranges.insert(offset..<position)
    }

    /// Records that at most `length` bytes were written before the disk failed; `size` is the file's size, if known.
    mutating func insert(atMost length: Int, at offset: Int64, size: Int64?) {
        position = min(max(offset, size ?? offset), offset + Int64(length))
        ranges.insert(offset..<position)
    }

    /// Discards everything after `length`.
    mutating func cut(to length: Int64) {
        ranges.cut(to: length)
        position = min(position, count)
    }
}

extension PartialDownload {
    /// A byte that was received again differs from the kept one. Nothing of that piece was written.
    struct OverlapDifference: UnusableBytesError, Hashable, Sendable {
        /// The offset of the piece.
        let offset: Int64

        var reason: RestartReason { .overlapDiffers }
    }

    /// The bytes came from servers that are not trusted now.
    struct UntrustedBytesError: UnusableBytesError, Hashable, Sendable {
        var reason: RestartReason { .verificationChanged }
    }

    /// How the servers of the bytes were verified, including those that only a closure trusted.
    var verification: ServerVerification {
        checkpoint.map { $0.serverVerification.trusting($0.trustedServers ?? []) } ?? .anyServer
    }
}

/// An error about kept bytes that cannot be resumed: the whole has to be requested.
protocol UnusableBytesError: Error {
    var reason: RestartReason { get }
}
