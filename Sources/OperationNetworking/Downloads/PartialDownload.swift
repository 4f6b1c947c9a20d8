internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The file of one download, from the first byte until it has its name, with the order of writes.
///
/// Used on one queue, which may wait for the disk as long as it likes; never on the network thread. The
/// partial file is locked until ``close()``.
///
/// ```
/// open ─ begin ─ write … write ─ flush ─ begin ─ write … write ─ finish
/// ```
///
/// After any error it can be flushed, begun again, closed or discarded.
final class PartialDownload {
    /// The pace at which checkpoints are written while bytes come.
    private enum Pace {
        static let shortest = 1.0
        static let longest = 5.0
        static let bytes: Int64 = 16 << 20
    }

    /// The bytes of an earlier process, for the request to send; `nil` if none can be continued, or others have
    /// come in their place.
    private(set) var recovered: PartialContent?
    /// Why bytes of an earlier process are not continued.
    let lost: RestartReason?
    /// The checkpoint of the bytes, on the disk or about to be; `nil` while none came.
    private(set) var checkpoint: DownloadCheckpoint?

    private let environment: DownloadEnvironment
    private let question: DownloadQuestion
    /// See ``DownloadCheckpoint/generation``.
    let generation: Int
    private var part: NamedPart
    private var extent: PartExtent
    /// Whether something is on the disk, in the file or in a checkpoint, that is not of what comes now.
    private var isTainted: Bool
    private var lastCommit: MonotonicTime
    private var hasNotes = false
    /// The file's length and times when the last transfer had stopped; `nil` from the beginning of the next
    /// body on. The length is `count`, but for what a failed write left behind it.
    private var atRest: (length: Int64, times: FileTimes)?
    /// Whether the servers that brought the bytes are trusted; a closure says so before a body begins.
    private var isTrusted: Bool
    private var room: DiskRoom
    private var failure: (any Error)?
    private var isClosed = false

    /// - Parameters:
    ///   - found: the file, open and locked.
    ///   - place: where the complete file is to be.
    ///   - question: the request that will be sent, and its user.
    ///   - replaces: whether a file that has the name may be replaced.
    ///   - generation: the number of parts that were begun before it, each to take the place of the one before.
    ///   - environment: the machine.
    init(
        _ found: FoundPart,
        at place: DownloadPlace,
        for question: DownloadQuestion,
        replacing replaces: Bool,
        generation: Int,
        in environment: DownloadEnvironment
    ) {
        self.environment = environment
        self.question = question
        self.generation = generation
        part = NamedPart(
            found,
            at: place,
            replacing: replaces,
            session: environment.session(found.file)
        )
        checkpoint = found.checkpoint
        recovered = found.recovered
        lost = found.lost
        extent = PartExtent(count: found.length, total: recovered?.total)
        isTainted = found.isTainted
        lastCommit = environment.clock()
        isTrusted = found.checkpoint.map { !question.dependsOnTrust($0) } ?? true
        room = DiskRoom(place, found)
    }

    /// The names of the file and of what is beside it.
    var names: PartialName.Candidate { part.names }
    /// The partial file.
    var partURL: URL { part.url }
    /// The checkpoint's file.
    var checkpointURL: URL { part.checkpointURL }
    /// The number of bytes in the file, from the first one on.
    var count: Int64 { extent.count }
    /// The offset of the next byte of a body; less than ``count`` while bytes are compared.
    var position: Int64 { extent.position }
    /// The length of the whole, `nil` while it is unknown.
    var total: Int64? { extent.total }
    /// The number of bytes that a later process certainly finds again.
    var committed: Int64 { checkpoint?.committed ?? 0 }

    /// Reads the file on any queue, while it is written here.
    func reader() throws -> DigestFollower.Reader {
        try translating { try part.reader() }
    }

    // MARK: - Receiving

    /// Gets ready for a body whose head was accepted.
    ///
    /// - Parameters:
    ///   - start: where its first byte belongs.
    ///   - total: the length of the whole, `nil` if the head does not tell. Free space is checked.
    ///   - origin: the response.
    ///   - servers: those that only the challenge's closure trusts, by their digests.
    ///   - note: puts into the checkpoint what it says besides the bytes.
    /// - Throws: ``DownloadError``, or a `CocoaError`; ``UntrustedBytes``, and then nothing has changed.
    func begin(
        _ start: Place,
        total: Int64?,
        origin: DownloadCheckpoint.Response,
        trusting servers: Set<String> = [],
        note: (inout DownloadCheckpoint) -> Void = { _ in }
    ) throws {
        if start != .start, let checkpoint, !question.trusts(checkpoint, servers) { throw UntrustedBytes() }
        isTrusted = true
        func noteAll(_ checkpoint: inout DownloadCheckpoint) {
            checkpoint.note(question.verification, trusting: servers)
            note(&checkpoint)
        }
        atRest = nil
        try translating {
            try room.check(for: total)
            switch start {
            case .end where checkpoint != nil, .again where checkpoint != nil: try goOn(total, noteAll)
            // Without a checkpoint nothing is there.
            case .start, .end, .again: try startAnew(total, origin, noteAll)
            }
            extent.begin(again: start.overlap)
            try room.begin(at: count, total: total)
            lastCommit = environment.clock()
            failure = nil
        }
    }

    /// Takes the next bytes of the body.
    /// - Parameters:
    ///   - bytes: in one piece.
    ///   - offset: that of the first one in the whole.
    /// - Throws: ``OverlapDifference``, ``DownloadError``, or a `CocoaError`; and again for each later piece.
    func write(_ bytes: Span<UInt8>, at offset: Int64) throws {
        if let failure { throw failure }
        do {
            let known = extent.known(of: bytes.count, at: offset)
            try compare(bytes.extracting(..<known), at: offset)
            let new = bytes.extracting(known...)
            guard !new.isEmpty else { return }
            try put(new, at: offset + Int64(known))
            let interval = environment.clock() - lastCommit
            if interval >= Pace.shortest, interval >= Pace.longest || count - committed >= Pace.bytes {
                try commit()
            }
        } catch {
            let error = FileError.foundation(error, partURL)
            failure = error
            throw error
        }
    }

    /// Writes bytes. Those that the disk takes stay, even if they are not all: a full disk is filled.
    private func put(_ bytes: Span<UInt8>, at offset: Int64) throws {
        // Another program has cut it, or appended something.
        guard try part.file.status.size == extent.end else {
            throw DownloadError.partialFileReplaced(partURL)
        }
        if checkpoint?.isAtRest == true { try goOnFromRest() }
        room.extend(to: offset + Int64(bytes.count))
        do {
            try part.file.write(bytes, at: offset)
            extent.insert(bytes.count, at: offset)
        } catch {
            // The first error is the one to tell.
            extent.insert(atMost: bytes.count, at: offset, size: try? part.file.status.size)
            throw error
        }
    }

    /// Has a process that finds the file know that bytes come behind those that are committed.
    private func goOnFromRest() throws {
        guard var next = checkpoint else { return }
        next.isAtRest = nil
        // A loss of power may keep the name of what is not on the disk, in the place of what was.
        try save(next, isDurable: true)
    }

    private func compare(_ bytes: Span<UInt8>, at offset: Int64) throws {
        guard !bytes.isEmpty else { return }
        let there = try part.file.read(bytes.count, at: offset)
        guard there.count == bytes.count, bytes.indices.allSatisfy({ bytes[$0] == there[$0] }) else {
            throw OverlapDifference(offset: offset)
        }
        extent.didCompare(bytes.count, at: offset)
    }

    /// Begins with a copy of the file that has the final name, which another program made and which stays as it is
    /// (P20). Nothing is known of it; a digest of the whole decides in the end.
    /// - Parameter isWanted: asked before each piece. If not, what was copied is removed, and so is the partial file.
    /// - Throws: ``DownloadError``, a `CocoaError`; `URLError.cancelled`.
    func adopt(while isWanted: () -> Bool = { true }) throws {
        let url = part.destination
        guard
            let file = try FileError.translating(
                url,
                { try NotedFile(path: url.path, attribute: FileRecord.attribute) }
            )
        else { return }
        let origin = DownloadCheckpoint.Response(url: question.request.url, fields: [:], isHTTP10: false)
        try begin(.start, total: nil, origin: origin) { checkpoint in
            checkpoint.isJoinedByOverlap = true
            checkpoint.isForeign = true
        }
        while true {
            guard isWanted() else {
                try discard()
                throw URLError(.cancelled)
            }
            let piece = try FileError.translating(url) { try file.read(1 << 20, at: count) }
            guard !piece.isEmpty else { break }
            try write(piece.span, at: count)
        }
        try flush()
    }

    /// Whether it began with a copy of another program's file.
    var isForeign: Bool { checkpoint?.isForeign == true }

    // MARK: - The end

    /// Brings the received bytes to the disk: the transfer has ended, and a later one may go on.
    ///
    /// If another program has given the file another length, its bytes are unknown behind those that are
    /// committed; the checkpoint says so, so that a later process does not take them for the server's.
    func flush() throws {
        guard !isClosed else { return }
        do {
            defer { room.giveBack(behind: extent.end) }
            try translating {
                do {
                    try commit(isAtRest: true)
                } catch DownloadError.partialFileReplaced(let url) {
                    if part.hasName { try? saveAtRest() }
                    throw DownloadError.partialFileReplaced(url)
                }
                try saveAtRest()
            }
        }
        // Not anew where no transfer has come since: another program may have written in between.
        guard atRest == nil, let length = try? part.file.status.size, let times = try? part.file.times else {
            return
        }
        atRest = (length, times)
    }

    /// Has the checkpoint say that no byte counts but those that are committed.
    private func saveAtRest() throws {
        guard var checkpoint, hasNotes || checkpoint.isAtRest != true else { return }
        checkpoint.isAtRest = true
        try save(checkpoint, isDurable: true)
    }

    /// Whether another program may have changed bytes since the last transfer had stopped: by the file's
    /// length and times, which cost nothing to read. If the times differ, the blocks of the checkpoint are
    /// read.
    /// - Throws: ``DownloadError/partialFileReplaced(_:)`` if the file has another length, or one of the
    ///   blocks other bytes (B12).
    func isTouched() throws -> Bool {
        guard let atRest, let checkpoint else { return false }
        return try translating {
            // Whatever the times are: two changes within a few milliseconds may have the same one.
            guard try part.file.status.size == atRest.length else {
                throw DownloadError.partialFileReplaced(partURL)
            }
            guard try part.file.times != atRest.times else { return false }
            guard checkpoint.blocks.allSatisfy({ $0.isIntact(in: part.file) }) else {
                throw DownloadError.partialFileReplaced(partURL)
            }
            return true
        }
    }

    /// Gives the complete file its name, and closes it (B9).
    ///
    /// - Parameters:
    ///   - modified: the time of its last change, in seconds since 1970; `nil`: now.
    ///   - record: makes what is kept with the file, from its length and time.
    ///   - beforeNaming: called when everything is on the disk but the name.
    ///   - afterNaming: called when the name is on the disk: a process that dies before its end leaves a
    ///     checkpoint beside the file.
    /// - Throws: ``DownloadError``, ``UntrustedBytes``, or a `CocoaError`; the partial file is kept then.
    func finish(
        modified: Int64?,
        record: (FileStamp) -> FileRecord? = { _ in nil },
        beforeNaming: () throws -> Void = {},
        afterNaming: () -> Void = {}
    ) throws {
        guard isTrusted else { throw UntrustedBytes() }
        try translating {
            guard extent.isComplete else {
                throw DownloadError.incomplete(
                    part.destination,
                    received: extent.position,
                    expected: max(total ?? 0, count)
                )
            }
            try part.checkIdentity(length: count)
            room.giveBack(behind: extent.end)
            // A time that the file system does not know is no reason to fail.
            if let modified { try? part.file.setModified(modified) }
            // Nor is one that keeps no notes: then nothing is known of the file later. Its name does not
            // change the time.
            try? part.file.note(record(part.file.stamp)?.text, as: FileRecord.attribute)
            do {
                // With the bytes: a loss of power leaves the name with the mode.
                try part.file.grant(part.access())
                try rollingBack { try part.file.synchronize() }
                try beforeNaming()
                try part.name()
            } catch {
                part.file.restrict()
                throw error
            }
            close()
            try part.synchronizeName()
            afterNaming()
            // One that stays beside the file does no harm.
            try? part.removeCheckpoint()
        }
    }

    /// Gives up what came behind the bytes of an earlier process.
    /// - Parameter digest: that of the whole, if it was wrong: see ``DownloadCheckpoint/refutedDigest``.
    /// - Throws: a `CocoaError` if the disk does not take it.
    func rollBackToRecovered(refuting digest: FileDigest?) throws {
        guard let recovered, var checkpoint, digest != nil || recovered.offset < count else { return }
        if let digest { checkpoint.refutedDigest = digest.description }
        try translating {
            // First: a process that dies before the bytes are cut away leaves some that do not count.
            checkpoint.rollBack(to: recovered.offset)
            checkpoint.isAtRest = true
            try save(checkpoint, isDurable: true)
            guard recovered.offset < count else { return }
            extent.cut(to: recovered.offset)
            atRest = nil
            try cutWhatDoesNotCount()
            try part.file.synchronizeData()
        }
    }

    /// Lets its rest be asked for again, if the server's whole has the digest that the file of it had.
    func clearRefutation(by digest: FileDigest) throws {
        guard var checkpoint, checkpoint.refutedDigest == digest.description else { return }
        checkpoint.refutedDigest = nil
        try translating { try save(checkpoint, isDurable: true) }
    }

    /// Whether a digest was wrong of a file that began with the bytes.
    var isRefuted: Bool { checkpoint?.refutedDigest != nil }

    /// The number of bytes of the disk that it takes.
    var allocated: Int64 {
        get throws { try part.file.status.allocated }
    }

    /// Removes everything but a file that has its name.
    func discard() throws {
        guard !isClosed else { return }
        try translating {
            // Bytes without a checkpoint would be taken for another program's.
            try part.file.truncate(to: 0)
            close()
        }
    }

    /// Lets go of the file. One without bytes is removed.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        room.giveBack(behind: extent.end)
        part.close()
    }

    // MARK: - Checkpoints

    /// Makes a checkpoint of all bytes: 1 the bytes, 2 the checkpoint, 3 its name; then it is true.
    private func commit(isAtRest: Bool = false) throws {
        guard var next = checkpoint, count > next.committed else { return }
        try part.checkIdentity(length: extent.end)
        try rollingBack { try part.file.synchronizeData() }
        let length = Int(min(count, Int64(DownloadCheckpoint.Block.maximumLength)))
        let bytes = try part.file.read(length, at: count - Int64(length))
        guard bytes.count == length else { throw DownloadError.partialFileReplaced(partURL) }
        let digest = try bytes.span.sha256Text()
        next.commit(extent.ranges, DownloadCheckpoint.Block(end: count, length: length, digest: digest))
        next.isAtRest = isAtRest ? true : nil
        try save(next, isDurable: true)
        lastCommit = environment.clock()
    }

    private func save(_ next: DownloadCheckpoint, isDurable: Bool) throws {
        var next = next
        next.updated = environment.wallClock()
        next.part = part.identity
        next.birth = part.birth
        next.session = part.session
        part.savedCheckpoint = try part.save(next, isDurable: isDurable)
        checkpoint = next
        hasNotes = false
    }

    /// After a failure the bytes on the disk are unknown: what is not committed is given up (B7).
    private func rollingBack(_ synchronize: () throws -> Void) throws {
        do {
            try synchronize()
        } catch {
            extent.cut(to: committed)
            // The file is cut here, too.
            atRest = nil
            // The first error is the one to tell. Bytes that stay are cut away by the next begin.
            try? cutWhatDoesNotCount()
            throw error
        }
    }

    /// A failed write leaves more than counts. Less is another program's work: to lengthen the file would put
    /// zeros in the place of bytes.
    private func cutWhatDoesNotCount() throws {
        let size = try part.file.status.size
        guard size >= extent.end else { throw DownloadError.partialFileReplaced(partURL) }
        if size > extent.end { try part.file.truncate(to: extent.end) }
    }

    /// Gives all bytes up, and leaves nothing on the disk that could be taken for what comes.
    private func startAnew(
        _ total: Int64?,
        _ origin: DownloadCheckpoint.Response,
        _ note: (inout DownloadCheckpoint) -> Void
    ) throws {
        var next = try DownloadCheckpoint(
            question,
            origin: origin,
            total: total,
            part: part.identity,
            session: part.session,
            now: environment.wallClock()
        )
        next.generation = generation > 0 ? generation : nil
        if let checkpoint { next.succeed(checkpoint, wasting: count) }
        next.countAttempt()
        note(&next)
        let isClean = try !isTainted && count == 0 && committed == 0 && part.file.status.size == 0
        if !isClean {
            isTainted = true
            checkpoint = nil
            recovered = nil
            extent.cut(to: 0)
            try part.file.truncate(to: 0)
            try part.file.synchronizeData()
        }
        // A first checkpoint claims nothing, so it may get lost. One in the place of another has to be there
        // before the first byte: the old one would describe the new bytes.
        try save(next, isDurable: !isClean)
        isTainted = false
        extent.total = total
    }

    private func goOn(_ total: Int64?, _ note: (inout DownloadCheckpoint) -> Void) throws {
        guard var next = checkpoint else { return }
        try cutWhatDoesNotCount()
        next.total = total ?? next.total
        next.countAttempt()
        note(&next)
        // What is written is kept without a later checkpoint, so what is to be known of it is written before.
        let isLessProven =
            next.isJoinedByOverlap != checkpoint?.isJoinedByOverlap
            || next.isOfSeveralLocations != checkpoint?.isOfSeveralLocations
            || next.verification != checkpoint?.verification
            || next.trustedServers != checkpoint?.trustedServers
        // A process that finds the file has to know that it is written in this session now.
        if next.session != part.session || next.part != part.identity || isLessProven {
            // What cannot be saved now is still to be saved by the next begin.
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

/// The bytes of a partial file: which of them are there, how many there are going to be, and where the next one
/// belongs.
struct PartExtent {
    /// The bytes that are in the file.
    private(set) var ranges: ByteRanges
    /// The length of the whole, `nil` while it is unknown.
    var total: Int64?
    /// The offset behind the last byte that came.
    private(set) var position: Int64

    init(count: Int64, total: Int64?) {
        ranges = ByteRanges(upTo: count)
        self.total = total
        position = count
    }

    /// The number of bytes from the first one on.
    var count: Int64 { ranges.prefix }

    /// The length of the file.
    var end: Int64 { ranges.end }

    var isComplete: Bool { ranges.isPrefix && position == end && total.map { $0 == end } ?? true }

    /// The next byte belongs behind the others; or at `offset`, within them.
    mutating func begin(again offset: Int64?) {
        position = offset.map { min(max($0, 0), count) } ?? count
    }

    /// The number of the `length` bytes at `offset` that are there already.
    func known(of length: Int, at offset: Int64) -> Int { Int(min(Int64(length), max(0, count - offset))) }

    /// Bytes that are there came again.
    mutating func didCompare(_ length: Int, at offset: Int64) {
        position = offset + Int64(length)
    }

    /// Bytes were written.
    mutating func insert(_ length: Int, at offset: Int64) {
        position = offset + Int64(length)
        ranges.insert(offset..<position)
    }

    /// Some bytes were written, of `length`, and then the disk failed; `size` is that of the file, if known.
    mutating func insert(atMost length: Int, at offset: Int64, size: Int64?) {
        position = min(max(offset, size ?? offset), offset + Int64(length))
        ranges.insert(offset..<position)
    }

    /// Nothing behind `length` counts any more.
    mutating func cut(to length: Int64) {
        ranges.cut(to: length)
        position = min(position, count)
    }
}

extension PartialDownload {
    /// The place of a body's bytes in the file.
    enum Place: Hashable, Sendable {
        /// At the start; the kept bytes are thrown away.
        case start
        /// Behind the kept bytes.
        case end
        /// At an offset within the kept bytes: those that come twice have to be equal.
        case again(from: Int64)

        /// The offset of the first byte that comes twice.
        var overlap: Int64? { if case .again(let offset) = self { offset } else { nil } }
    }

    /// A byte that came again is another one than before. Nothing of that piece was written.
    struct OverlapDifference: UselessBytes, Hashable, Sendable {
        /// The first byte of the piece.
        let offset: Int64

        var reason: RestartReason { .overlapDiffers }
    }

    /// The bytes came from servers that are not trusted now.
    struct UntrustedBytes: UselessBytes, Hashable, Sendable {
        var reason: RestartReason { .verificationChanged }
    }

    /// The verification of the servers that the bytes came from, with those that only a closure trusted.
    var verification: ServerVerification {
        checkpoint.map { $0.serverVerification.trusting($0.trustedServers ?? []) } ?? .anyServer
    }
}

/// Bytes that are there, and that nothing can be joined to: the whole has to come.
protocol UselessBytes: Error {
    var reason: RestartReason { get }
}
