internal import Foundation
internal import OperationNetworkingSystem

/// A partial file of ours: open, locked, and truncated to what can be trusted.
struct FoundPart {
    let names: PartialName.Candidate
    let file: PartFile
    let status: FileStatus
    /// Whether a later process can recognize it as ours, and lock it.
    let isProvable: Bool
    /// The checkpoint of the kept bytes; `nil` if there are none.
    var checkpoint: DownloadCheckpoint?
    /// The number of kept bytes.
    var length: Int64 = 0
    /// Why existing bytes are not kept; `nil` if they are, or if there are none.
    var lost: RestartReason?
    /// Whether anything on disk could be mistaken for the next bytes.
    var isTainted = false
    /// Whether the bytes were begun with another query, as another user, or with other values of fields that `Vary`
    /// names.
    var isOfOtherRequest = false
    /// The checkpoint of bytes that are not kept, but that another request may resume.
    var otherCheckpoint: DownloadCheckpoint?

    /// The representation that the kept bytes belong to.
    var recovered: PartialContent? {
        var content = checkpoint?.partialContent(offset: length)
        content?.isOfOtherRequest = isOfOtherRequest
        return content
    }

    /// The number of parts that were begun before this one, each to replace the previous one.
    var generation: Int { (checkpoint ?? otherCheckpoint)?.generation ?? 0 }
}

/// The target of a download: the place of its file, the request that will be sent, and the machine.
struct DownloadTarget {
    let place: DownloadPlace
    let downloadRequest: DownloadRequest
    /// Whether an existing complete file may be replaced.
    let mayReplace: Bool
    let environment: DownloadEnvironment

    /// - Parameters:
    ///   - destination: the URL of the complete file. Its folder must exist.
    ///   - downloadRequest: the request that will be sent.
    ///   - mayReplace: whether an existing complete file may be replaced.
    ///   - environment: the machine.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    init(
        _ destination: URL,
        for downloadRequest: DownloadRequest,
        replacing mayReplace: Bool,
        in environment: DownloadEnvironment
    ) throws {
        place = try DownloadPlace(destination, watch: environment.watch)
        self.downloadRequest = downloadRequest
        self.mayReplace = mayReplace
        self.environment = environment
    }

    /// Finds the partial files, older ones first.
    /// - Returns: at most three parts, open and locked, because a killed process may not have removed one; and why
    ///   one with a checkpoint was passed over.
    /// - Throws: ``DownloadError``, `SystemError`.
    func findParts() throws -> (parts: [FoundPart], passedBy: RestartReason?) {
        var (found, passedBy): ([FoundPart], RestartReason?) = ([], nil)
        for names in PartialName(of: place.name).candidates {
            guard found.count < 3, try place.folder.status(of: names.part) != .nothing else { continue }
            switch try take(names) {
            case .ours(let part): found.append(part)
            case .notOurs(let reason): passedBy = reason ?? passedBy
            }
        }
        return (found.sorted { $0.generation < $1.generation }, passedBy)
    }

    /// Creates an empty part.
    /// - Parameter others: the names of the existing parts.
    /// - Returns: the part, open and locked.
    /// - Throws: ``DownloadError``, `SystemError`.
    func makePart(besides others: [PartialName.Candidate] = []) throws -> FoundPart {
        for names in PartialName(of: place.name).candidates where !others.contains(names) {
            if case .ours(let made) = try take(names) { return made }
        }
        throw DownloadError.noFreeName(place.url)
    }

    /// What has the name of a part.
    private enum Taken<Part> {
        case ours(Part)
        /// The reason is set if there is a checkpoint.
        case notOurs(RestartReason?)
    }

    private func take(_ names: PartialName.Candidate) throws -> Taken<FoundPart> {
        let opened: Opened
        switch try lock(names) {
        case .notOurs(let reason): return .notOurs(reason)
        case .ours(let part): opened = part
        }
        do {
            let taken = try recover(opened, names)
            switch taken {
            case .ours:
                // A process may have been about to complete it.
                opened.file.restrict()
                // The name of the part may be free because another operation has just completed the file.
                try place.check(replacing: mayReplace)
            // The names next to it are taken, so the new file is not needed.
            case .notOurs: if opened.isMade { try place.folder.remove(names.part) }
            }
            return taken
        } catch {
            if opened.isMade { try place.folder.remove(names.part) }
            throw error
        }
    }

    /// The file that has the name of a part.
    private struct Opened {
        let file: PartFile
        let isMade: Bool
        /// Whether the file system has locks.
        var isLocked = true
    }

    /// Opens or creates a file, and locks it.
    private func lock(_ names: PartialName.Candidate) throws -> Taken<Opened> {
        let (folder, name) = (place.folder, names.part)
        // With a checkpoint, it may be a part of ours that the file system does not show as such.
        func notOurs() throws -> Taken<Opened> {
            .notOurs(try folder.status(of: names.checkpoint) == .nothing ? nil : .checkpointUnproven)
        }
        var opened: Opened
        switch try folder.openOwn(name) {
        case .nothing:
            guard let made = try folder.create(name) else { throw DownloadError.inUse(place.url) }
            opened = Opened(file: made, isMade: true)
        case .notOurs: return try notOurs()
        case .file(let file):
            // An empty file of another program.
            guard try file.status.size > 0 || file.status.mode & 0o077 == 0 else { return .notOurs(nil) }
            opened = Opened(file: file, isMade: false)
        }
        switch try opened.file.lock() {
        case .taken: break
        case .unsupported:
            guard opened.isMade else { return try notOurs() }
            opened.isLocked = false
        case .held:
            // Another process or operation may be downloading to a destination whose part may have this name.
            let checkpoint = try folder.checkpoint(names.checkpoint).checkpoint
            if let checkpoint, place.isOfOther(checkpoint, names) { return .notOurs(nil) }
            // Before the first head, nothing says to which destination. A file with bytes and without a checkpoint
            // belongs to no download.
            if try checkpoint == nil && (opened.file.status.size > 0 || place.mayBeOfOther(names)) {
                return .notOurs(nil)
            }
            throw DownloadError.inUse(place.url)
        }
        // Another process has just created, completed or removed it. It is not looked up again: a later attempt finds
        // the result.
        guard try folder.isName(name, of: opened.file) else { throw DownloadError.inUse(place.url) }
        return .ours(opened)
    }

    private func recover(_ opened: Opened, _ names: PartialName.Candidate) throws -> Taken<FoundPart> {
        let (file, status) = (opened.file, try opened.file.status)
        let finding = try place.folder.finding(names)
        var facts = PartRecovery.Facts(
            downloadRequest: downloadRequest,
            finding: finding,
            part: file.lastingIdentity,
            size: status.size
        )
        facts.session = environment.session(file)
        if case .file = try place.folder.status(of: place.name) { facts.replacesFile = true }
        if let checkpoint = finding.checkpoint {
            facts.isOfOtherDestination = place.isOfOther(checkpoint, names)
            facts.intactBlocks =
                try downloadRequest.startsOver
                ? checkpoint.blocks.count : checkpoint.blocks.prefix { try $0.isIntact(in: file) }.count
        }
        let isProvable = try opened.isLocked && place.folder.isProvable(file)
        var found = FoundPart(names: names, file: file, status: status, isProvable: isProvable)
        switch PartRecovery(facts) {
        case .useOtherName(let reason):
            return .notOurs(reason)
        case .begin:
            if case .none = finding { found.isTainted = status.size > 0 } else { found.isTainted = true }
        case .startOver(let reason):
            found.lost = reason
            found.isTainted = true
            if reason.mayMatterToOthers, finding.checkpoint?.mayBeContinued == true {
                found.otherCheckpoint = finding.checkpoint
            }
        case .keep(let length, let isOfOtherRequest):
            found.isOfOtherRequest = isOfOtherRequest
            guard var checkpoint = finding.checkpoint else { return .notOurs(nil) }
            if length < status.size { try file.truncate(to: length) }
            if length < checkpoint.ranges.end {
                checkpoint.rollBack(to: length)
                // Before more bytes are written: the old checkpoint would count them as committed.
                try file.synchronizeData()
                try place.folder.save(checkpoint, names, isDurable: true)
            }
            found.checkpoint = checkpoint
            found.length = length
        }
        return .ours(found)
    }
}

extension RestartReason {
    /// Whether another request may resume a part that this one cannot.
    fileprivate var mayMatterToOthers: Bool {
        switch self {
        case .requestChanged, .verificationChanged, .foreignCopy: true
        default: false
        }
    }
}

extension DownloadCheckpoint {
    /// Whether some request could resume its bytes.
    fileprivate var mayBeContinued: Bool {
        guard let request = request.request else { return false }
        return ResumeRequest.mayContinue(request) && RangeRequest(request) == nil
            && !partialContent(offset: committed).isCoded
    }
}

extension DownloadCheckpoint.Block {
    /// Whether the bytes are unchanged.
    /// - Throws: `SystemError` if they cannot be read: a disk that fails has not changed them.
    func isIntact(in file: PartFile) throws -> Bool {
        let bytes = try file.read(length, at: end - Int64(length))
        return try bytes.count == length && bytes.span.sha256Text() == digest
    }
}

extension DownloadFolder {
    /// Examines the names next to a partial file.
    func finding(_ names: PartialName.Candidate) throws -> PartRecovery.Facts.Finding {
        // What a killed process left is never read. It is removed when the next checkpoint is written.
        switch try contents(of: names.temporary, limit: 0) {
        case .notOurs: return .notOurs
        case .nothing, .tooLong, .bytes: return try checkpoint(names.checkpoint)
        }
    }

    /// Replaces a checkpoint.
    @discardableResult
    func save(
        _ checkpoint: DownloadCheckpoint,
        _ names: PartialName.Candidate,
        isDurable: Bool
    ) throws -> FileIdentity {
        try replace(
            names.checkpoint,
            with: checkpoint.fileBytes(),
            temporary: names.temporary,
            isDurable: isDurable
        )
    }
}
