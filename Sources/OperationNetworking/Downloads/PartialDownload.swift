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
    /// The place of a body's bytes in the file.
    enum Place: Hashable, Sendable {
        /// At the start; the kept bytes are thrown away.
        case start
        /// Behind the kept bytes.
        case end
        /// At an offset within the kept bytes: those that come twice have to be equal.
        case again(from: Int64)
    }

    /// A byte that came again is another one than before. Nothing of that piece was written.
    struct OverlapDifference: Error, Hashable, Sendable {
        /// The first byte of the piece.
        let offset: Int64
    }

    /// The pace at which checkpoints are written while bytes come.
    private enum Pace {
        static let shortest = 1.0
        static let longest = 5.0
        static let bytes: Int64 = 16 << 20
    }

    /// The bytes of an earlier process, for the request to send; `nil` if none can be continued.
    let recovered: PartialContent?
    /// Why bytes of an earlier process are not continued.
    let lost: RestartReason?
    /// The file of that name that may be replaced.
    let replaceable: ReplaceableFile
    /// The number of bytes in the file.
    private(set) var count: Int64
    /// The length of the whole, `nil` while it is unknown.
    private(set) var total: Int64?
    /// The checkpoint of the bytes, on the disk or about to be; `nil` while none came.
    private(set) var checkpoint: DownloadCheckpoint?

    private let place: DownloadPlace
    private let environment: DownloadEnvironment
    private let request: RequestRecord
    private let asker: Asker
    private let names: PartialName.Candidate
    private let file: PartFile
    private let identity: FileIdentity
    private let session: String?
    /// The offset of the next byte; less than `count` while bytes are compared.
    private var position: Int64
    /// Whether something is on the disk, in the file or in a checkpoint, that is not of what comes now.
    private var isTainted: Bool
    private var savedCheckpoint: FileIdentity?
    private var lastCommit: MonotonicTime
    private var hasNotes = false
    private var room: DiskRoom
    private var failure: (any Error)?
    private var isClosed = false

    /// Finds what an earlier process left, or makes a new file.
    ///
    /// - Parameters:
    ///   - request: what is going to be asked; decides whether old bytes are of use.
    ///   - asker: as whom; `nil`: as the request alone says.
    ///   - destination: the name of the complete file. Its folder has to exist.
    ///   - replacesFile: whether any file that has the name may be replaced.
    ///   - replaceable: which one may be replaced all the same.
    ///   - source: the file of another program that is to be continued: a copy of any other is not.
    ///   - isStrict: whether nothing is kept of another address, or of another user without a strong tag.
    ///   - environment: the machine.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    init(
        _ request: URLRequest,
        as asker: Asker? = nil,
        to destination: URL,
        replacesFile: Bool,
        orOnly replaceable: ReplaceableFile = .none,
        continuing source: SourceFile? = nil,
        isStrict: Bool = false,
        in environment: DownloadEnvironment = DownloadEnvironment()
    ) throws {
        let place = try DownloadPlace(destination, watch: environment.watch, marker: environment.marker)
        guard !FileName.isReserved(place.name) else { throw DownloadError.reservedName(destination) }
        let record = RequestRecord(request)
        let asker = asker ?? Asker(request)
        let replaceable = replacesFile ? .any : replaceable
        let found = try FileError.translating(destination) {
            try place.check(replacing: replaceable)
            return try FoundPart.find(
                for: record,
                as: asker,
                continuing: source,
                isStrict: isStrict,
                at: place,
                replacing: replaceable,
                in: environment
            )
        }
        self.place = place
        self.environment = environment
        self.replaceable = replaceable
        self.request = record
        self.asker = asker
        names = found.names
        file = found.file
        identity = found.status.identity
        session = environment.session(found.file)
        checkpoint = found.checkpoint
        recovered = found.recovered
        lost = found.lost
        count = found.length
        position = found.length
        total = recovered?.total
        isTainted = found.isTainted
        lastCommit = environment.clock()
        room = DiskRoom(place, found)
    }

    /// The partial file.
    var partURL: URL { place.sibling(names.part) }
    /// The checkpoint's file.
    var checkpointURL: URL { place.sibling(names.checkpoint) }
    /// The number of bytes that a later process certainly finds again.
    var committed: Int64 { checkpoint?.committed ?? 0 }

    /// Reads the file on any queue, while it is written here.
    func reader() throws -> DigestFollower.Reader {
        let reader = try translating { try place.folder.reader(names.part, of: identity) }
        return { offset, buffer in try reader.read(into: &buffer, at: offset) }
    }

    // MARK: - Receiving

    /// Gets ready for a body whose head was accepted.
    ///
    /// - Parameters:
    ///   - start: where its first byte belongs.
    ///   - total: the length of the whole, `nil` if the head does not tell. Free space is checked.
    ///   - origin: the response.
    ///   - note: puts into the checkpoint what it says besides the bytes.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    func begin(
        _ start: Place,
        total: Int64?,
        origin: DownloadCheckpoint.Response,
        note: (inout DownloadCheckpoint) -> Void = { _ in }
    ) throws {
        try translating {
            try room.check(for: total)
            switch start {
            case .end where checkpoint != nil, .again where checkpoint != nil: try goOn(total, note)
            // Without a checkpoint nothing is there.
            case .start, .end, .again: try startAnew(total, origin, note)
            }
            if case .again(let offset) = start {
                position = min(max(offset, 0), count)
            } else {
                position = count
            }
            try room.begin(at: count, total: total)
            lastCommit = environment.clock()
            failure = nil
        }
    }

    /// Takes the next bytes of the body.
    /// - Throws: ``OverlapDifference``, ``DownloadError``, or a `CocoaError`; and again for each later piece.
    func write(_ bytes: Span<UInt8>) throws {
        if let failure { throw failure }
        do {
            let known = Int(min(Int64(bytes.count), count - position))
            try compare(bytes.extracting(..<known))
            let new = bytes.extracting(known...)
            guard !new.isEmpty else { return }
            try append(new)
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

    /// Appends bytes. Those that the disk takes stay, even if they are not all: a full disk is filled.
    private func append(_ bytes: Span<UInt8>) throws {
        defer { position = count }
        room.extend(to: count + Int64(bytes.count))
        do {
            try file.write(bytes, at: count)
            count += Int64(bytes.count)
        } catch {
            // The first error is the one to tell.
            if let size = try? file.status.size { count = min(max(count, size), count + Int64(bytes.count)) }
            throw error
        }
    }

    private func compare(_ bytes: Span<UInt8>) throws {
        guard !bytes.isEmpty else { return }
        let there = try file.read(bytes.count, at: position)
        guard there.count == bytes.count, bytes.indices.allSatisfy({ bytes[$0] == there[$0] }) else {
            throw OverlapDifference(offset: position)
        }
        position += Int64(bytes.count)
    }

    // MARK: - The end

    /// All of the file that it begins with a copy of is there: to be flushed before any other byte comes.
    func completeCopy() {
        checkpoint?.copy?.isComplete = true
        hasNotes = true
    }

    /// Brings the received bytes to the disk: the transfer has ended, and a later one may go on.
    func flush() throws {
        guard !isClosed else { return }
        defer { room.giveBack(behind: count) }
        try translating {
            try commit()
            guard hasNotes, let checkpoint else { return }
            try save(checkpoint, isDurable: true)
        }
    }

    /// Gives the complete file its name, and closes it (B9).
    ///
    /// - Parameters:
    ///   - modified: the time of its last change, in seconds since 1970; `nil`: now.
    ///   - record: makes what is kept with the file, from its length and time.
    ///   - beforeNaming: called when everything is on the disk but the name.
    /// - Throws: ``DownloadError``, or a `CocoaError`; the partial file is kept then.
    func finish(
        modified: Int64?,
        record: (FileStamp) -> FileRecord? = { _ in nil },
        beforeNaming: () throws -> Void = {}
    ) throws {
        try translating {
            guard position == count, total.map({ $0 == count }) ?? true else {
                throw DownloadError.incomplete(
                    place.url,
                    received: position,
                    expected: max(total ?? 0, count)
                )
            }
            try checkIdentity()
            room.giveBack(behind: count)
            // A time that the file system does not know is no reason to fail.
            if let modified { try? file.setModified(modified) }
            // Nor is one that keeps no notes: then nothing is known of the file later. Its name does not
            // change the time.
            try? file.note(record(file.stamp)?.text, as: FileRecord.attribute)
            let access = try place.folder.access(to: file, named: place.name)
            try rollingBack { try file.synchronize() }
            try beforeNaming()
            // What a process left that was killed while it wrote a checkpoint. While the part has its name,
            // and its lock, no other process writes one.
            try removeTemporary()
            try rename()
            // Not before: until then another process has to see that the part is ours.
            file.removeMark()
            file.grant(access)
            close()
            try place.folder.synchronize()
            try removeCheckpoint()
        }
    }

    /// Removes everything but a file that has its name.
    func discard() throws {
        guard !isClosed else { return }
        try translating {
            // Bytes without a checkpoint would be taken for another program's.
            try file.truncate(to: 0)
            close()
        }
    }

    /// Lets go of the file. One without bytes is removed.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        defer { file.close() }
        room.giveBack(behind: count)
        guard let status = try? file.status, status.size == 0, hasItsName else { return }
        // What stays is found, and removed, by the next one.
        try? place.folder.remove(names.temporary)
        try? place.folder.remove(names.checkpoint)
        try? place.folder.remove(names.part)
    }

    private func rename() throws {
        do {
            guard try replaceable == .any || replaceable != .none && place.isTaken else {
                return try place.folder.renameExclusively(names.part, to: place.name, of: file)
            }
            try place.folder.rename(names.part, replacing: place.name, of: file) {
                try place.check(replacing: replaceable)
            }
        } catch is FileClaim.Taken {
            throw DownloadError.inUse(place.url)
        } catch let error as SystemError where error.code == SystemError.exists {
            throw DownloadError.destinationExists(place.url)
        } catch let error as SystemError where error.code == SystemError.replaced {
            throw DownloadError.partialFileReplaced(partURL)
        }
        // In a folder where others may rename our files, it may have been another one.
        guard has(place.name) else { throw DownloadError.partialFileReplaced(partURL) }
    }

    private func removeTemporary() throws {
        let trust = try place.folder.trust(of: names.temporary, as: .checkpoint)
        if let trust, trust != .none { try place.folder.remove(names.temporary) }
    }

    /// Removes our checkpoint: another process may have begun anew, now that the name of the part is free.
    private func removeCheckpoint() throws {
        guard case .file(let status) = try place.folder.status(of: names.checkpoint),
            savedCheckpoint == nil || savedCheckpoint == status.identity
        else { return }
        try place.folder.remove(names.checkpoint)
    }

    // MARK: - Checkpoints

    /// Makes a checkpoint of all bytes: 1 the bytes, 2 the checkpoint, 3 its name; then it is true.
    private func commit() throws {
        guard var next = checkpoint, count > next.committed else { return }
        try checkIdentity()
        try rollingBack { try file.synchronizeData() }
        let length = Int(min(count, Int64(DownloadCheckpoint.Block.maximumLength)))
        let bytes = try file.read(length, at: count - Int64(length))
        guard bytes.count == length else { throw DownloadError.partialFileReplaced(partURL) }
        let digest = try bytes.span.sha256Text()
        next.commit(DownloadCheckpoint.Block(end: count, length: length, digest: digest))
        try save(next, isDurable: true)
        lastCommit = environment.clock()
    }

    private func save(_ next: DownloadCheckpoint, isDurable: Bool) throws {
        var next = next
        next.updated = environment.wallClock()
        next.part = identity
        next.session = session
        // A failure when it was made may have been a moment's trouble.
        place.folder.mark(file, as: .part)
        savedCheckpoint = try place.folder.save(next, names, isDurable: isDurable)
        checkpoint = next
        hasNotes = false
    }

    /// After a failure the bytes on the disk are unknown: what is not committed is given up (B7).
    private func rollingBack(_ synchronize: () throws -> Void) throws {
        do {
            try synchronize()
        } catch {
            count = committed
            position = min(position, count)
            // The first error is the one to tell. Bytes that stay are cut away by the next begin.
            try? file.truncate(to: count)
            throw error
        }
    }

    /// Gives all bytes up, and leaves nothing on the disk that could be taken for what comes.
    private func startAnew(
        _ total: Int64?,
        _ origin: DownloadCheckpoint.Response,
        _ note: (inout DownloadCheckpoint) -> Void
    ) throws {
        var next = DownloadCheckpoint(
            request: request,
            origin: origin,
            total: total,
            part: identity,
            session: session,
            now: environment.wallClock()
        )
        next.asker = asker.digest
        if let checkpoint { next.succeed(checkpoint, wasting: count) }
        next.countAttempt()
        note(&next)
        let isClean = try !isTainted && count == 0 && committed == 0 && file.status.size == 0
        if !isClean {
            isTainted = true
            checkpoint = nil
            count = 0
            position = 0
            try file.truncate(to: 0)
            try file.synchronizeData()
        }
        // A first checkpoint claims nothing, so it may get lost. One in the place of another has to be there
        // before the first byte: the old one would describe the new bytes.
        try save(next, isDurable: !isClean)
        isTainted = false
        self.total = total
    }

    private func goOn(_ total: Int64?, _ note: (inout DownloadCheckpoint) -> Void) throws {
        guard var next = checkpoint else { return }
        // What a failed write left.
        if try file.status.size != count { try file.truncate(to: count) }
        next.total = total ?? next.total
        next.countAttempt()
        note(&next)
        self.total = next.total
        // What is written is kept without a later checkpoint, so what is to be known of it is written before.
        let isLessProven = next.isJoinedByOverlap != checkpoint?.isJoinedByOverlap
        checkpoint = next
        hasNotes = true
        // A process that finds the file has to know that it is written in this session now.
        if next.session != session || next.part != identity || isLessProven {
            try save(next, isDurable: true)
        }
    }

    // MARK: - The file

    /// Whether the name still is that of the file (B12).
    private var hasItsName: Bool { has(names.part) }

    private func has(_ name: String) -> Bool {
        guard case .file(let status) = try? place.folder.status(of: name) else { return false }
        return status.identity == identity
    }

    private func checkIdentity() throws {
        guard hasItsName, try file.status.size == count else {
            throw DownloadError.partialFileReplaced(partURL)
        }
    }

    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        try FileError.translating(partURL, body)
    }
}
