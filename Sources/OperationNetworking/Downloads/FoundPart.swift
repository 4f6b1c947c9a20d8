internal import Foundation
internal import OperationNetworkingSystem

/// A partial file that is ours: open, locked, and cut to what can be trusted.
struct FoundPart {
    let names: PartialName.Candidate
    let file: PartFile
    let status: FileStatus
    /// The checkpoint of the kept bytes; `nil` if there are none.
    var checkpoint: DownloadCheckpoint?
    /// The number of kept bytes.
    var length: Int64 = 0
    /// Why bytes that are there are not kept.
    var lost: RestartReason?
    /// Whether anything is on the disk that must not be taken for what comes now.
    var isTainted = false
    /// Whether its bytes were begun at another address, or as another user.
    var isOfOtherQuestion = false
    /// The checkpoint of bytes that are not kept, and that another request may go on with.
    var otherCheckpoint: DownloadCheckpoint?

    /// The representation of which the kept bytes are a part.
    var recovered: PartialContent? {
        var content = checkpoint?.partialContent(offset: length)
        content?.isOfOtherQuestion = isOfOtherQuestion
        return content
    }

    /// The number of parts that were begun before it, each to take the place of the one before.
    var generation: Int { (checkpoint ?? otherCheckpoint)?.generation ?? 0 }

    /// Finds the files of a download, the older one first; none if nothing was left.
    /// - Parameters:
    ///   - question: the request that will be sent, and its user.
    ///   - place: where it is to be saved.
    ///   - replaces: whether a file that has the name may be replaced.
    ///   - environment: the machine.
    /// - Returns: at most three, open and locked: a process may have died before it had removed one. And why one that
    ///   has a checkpoint was passed by.
    /// - Throws: ``DownloadError``, `SystemError`.
    static func findAll(
        for question: DownloadQuestion,
        at place: DownloadPlace,
        replacing replaces: Bool,
        in environment: DownloadEnvironment
    ) throws -> (parts: [FoundPart], passedBy: RestartReason?) {
        var (found, passedBy): ([FoundPart], RestartReason?) = ([], nil)
        for names in PartialName(of: place.name).candidates {
            guard found.count < 3, try place.folder.status(of: names.part) != .nothing else { continue }
            switch try take(names, for: question, at: place, replacing: replaces, in: environment) {
            case .part(let part): found.append(part)
            case .notOurs(let reason): passedBy = reason ?? passedBy
            }
        }
        return (found.sorted { $0.generation < $1.generation }, passedBy)
    }

    /// Makes a file without a byte.
    /// - Parameters:
    ///   - others: the names of the parts that are there.
    ///   - question: the request that will be sent, and its user.
    ///   - place: where it is to be saved.
    ///   - replaces: whether a file that has the name may be replaced.
    ///   - environment: the machine.
    /// - Returns: it, open and locked.
    /// - Throws: as ``findAll(for:at:replacing:in:)``.
    static func make(
        besides others: [PartialName.Candidate] = [],
        for question: DownloadQuestion,
        at place: DownloadPlace,
        replacing replaces: Bool,
        in environment: DownloadEnvironment
    ) throws -> FoundPart {
        for names in PartialName(of: place.name).candidates where !others.contains(names) {
            let taken = try take(names, for: question, at: place, replacing: replaces, in: environment)
            if case .part(let made) = taken { return made }
        }
        throw DownloadError.noFreeName(place.url)
    }

    private enum Taken {
        case part(FoundPart)
        case notOurs(RestartReason?)
    }

    private static func take(
        _ names: PartialName.Candidate,
        for question: DownloadQuestion,
        at place: DownloadPlace,
        replacing replaces: Bool,
        in environment: DownloadEnvironment
    ) throws -> Taken {
        guard let (file, isMade) = try lock(names, at: place) else { return .notOurs(nil) }
        do {
            let taken = try recover(file, names, for: question, at: place, in: environment)
            switch taken {
            // The name of the part may be free because another operation has just completed the file.
            case .part: try place.check(replacing: replaces)
            // What was made here only to find that the names beside it are taken.
            case .notOurs: if isMade { try place.folder.remove(names.part) }
            }
            return taken
        } catch {
            if isMade { try place.folder.remove(names.part) }
            throw error
        }
    }

    /// Opens or makes a file, and locks it.
    /// - Returns: `nil` if the name is taken by something that is not ours.
    private static func lock(
        _ names: PartialName.Candidate,
        at place: DownloadPlace
    ) throws -> (file: PartFile, isMade: Bool)? {
        let (folder, name) = (place.folder, names.part)
        // Another process may make it, remove it, or give it its final name in between.
        for _ in 0..<10 {
            let (file, isMade): (PartFile, Bool)
            switch try folder.openOwn(name) {
            case .nothing:
                guard let made = try folder.create(name) else { continue }
                (file, isMade) = (made, true)
            case .notOurs: return nil
            case .file(let opened):
                // An empty file of another program's.
                guard try opened.status.size > 0 || opened.status.mode & 0o077 == 0 else { return nil }
                (file, isMade) = (opened, false)
            }
            switch try file.lock() {
            case .taken: break
            case .unsupported: guard isMade else { return nil }
            case .held:
                // Another process, or operation, may download to a destination whose part can have this name.
                let checkpoint = try folder.checkpoint(names.checkpoint).checkpoint
                if let checkpoint, place.isOfOther(checkpoint, names) { return nil }
                // Before the first head nothing says to which. One with bytes and no checkpoint is no download's.
                if try checkpoint == nil && (file.status.size > 0 || place.mayBeOfOther(names)) { return nil }
                throw DownloadError.inUse(place.url)
            }
            if case .file(let named) = try folder.status(of: name), try named.identity == file.status.identity
            {
                return (file, isMade)
            }
        }
        throw DownloadError.inUse(place.url)
    }

    private static func recover(
        _ file: PartFile,
        _ names: PartialName.Candidate,
        for question: DownloadQuestion,
        at place: DownloadPlace,
        in environment: DownloadEnvironment
    ) throws -> Taken {
        let status = try file.status
        let finding = try place.folder.finding(names)
        var facts = PartRecovery.Facts(request: question.request, finding: finding, part: status)
        facts.birth = file.birth
        facts.session = environment.session(file)
        facts.takesOtherLocations = question.takesOtherLocations
        facts.knowsWhole = question.knowsWhole
        if case .file = try place.folder.status(of: place.name) { facts.replacesFile = true }
        if let checkpoint = finding.checkpoint {
            facts.isOfOtherDestination = place.isOfOther(checkpoint, names)
            facts.match = checkpoint.match(question)
            facts.isVerified = question.accepts(checkpoint)
            facts.dependsOnTrust = question.dependsOnTrust(checkpoint)
            facts.intactBlocks = checkpoint.blocks.prefix { $0.isIntact(in: file) }.count
        }
        var found = FoundPart(names: names, file: file, status: status)
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
        case .keep(let length, let isOfOtherQuestion):
            found.isOfOtherQuestion = isOfOtherQuestion
            guard var checkpoint = finding.checkpoint else { return .notOurs(nil) }
            // It was to be complete.
            file.restrict()
            if length < status.size { try file.truncate(to: length) }
            if length < checkpoint.ranges.end {
                checkpoint.rollBack(to: length)
                // Before a byte comes behind it: the old checkpoint would count it as committed.
                try file.synchronizeData()
                try place.folder.save(checkpoint, names, isDurable: true)
            }
            found.checkpoint = checkpoint
            found.length = length
        }
        return .part(found)
    }
}

extension RestartReason {
    /// Whether another request may go on with a part that is of no use to this one.
    fileprivate var mayMatterToOthers: Bool {
        switch self {
        case .requestChanged, .verificationChanged, .foreignCopy: true
        default: false
        }
    }
}

extension DownloadCheckpoint {
    /// Whether there is a request that could go on with its bytes.
    fileprivate var mayBeContinued: Bool {
        guard let request = request.request else { return false }
        return ResumeRequest.mayContinue(request) && RangeRequest(request) == nil
            && !partialContent(offset: committed).isCoded
    }
}

extension DownloadCheckpoint.Block {
    /// Whether the bytes are those that were there when it was written down; one that cannot be read is not.
    func isIntact(in file: PartFile) -> Bool {
        guard let bytes = try? file.read(length, at: end - Int64(length)), bytes.count == length else {
            return false
        }
        return (try? bytes.span.sha256Text()) == digest
    }
}

extension DownloadFolder {
    /// The finding under the names beside a partial file.
    func finding(_ names: PartialName.Candidate) throws -> PartRecovery.Facts.Finding {
        // What a process left that died is never read, and removed when the next one is written.
        if case .notOurs = try openOwn(names.temporary) { return .notOurs }
        return try checkpoint(names.checkpoint)
    }

    /// Writes a checkpoint in the place of the one before.
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
