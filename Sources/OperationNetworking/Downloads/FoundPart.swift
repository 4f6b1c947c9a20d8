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
    ///   - source: the file of another program that is to be continued.
    ///   - place: where it is to be saved.
    ///   - replaceable: which file that has the name may be replaced.
    ///   - environment: the machine.
    /// - Returns: at most three, open and locked: a process may have died before it had removed one.
    /// - Throws: ``DownloadError``, `SystemError`.
    static func findAll(
        for question: DownloadQuestion,
        continuing source: SourceFile?,
        at place: DownloadPlace,
        replacing replaceable: ReplaceableFile,
        in environment: DownloadEnvironment
    ) throws -> [FoundPart] {
        var found: [FoundPart] = []
        try PartialName(of: place.name).search { names in
            guard found.count < 3, try place.folder.status(of: names.part) != .nothing else { return false }
            let part = try take(
                names,
                for: question,
                continuing: source,
                at: place,
                replacing: replaceable,
                in: environment
            )
            if let part { found.append(part) }
            return true
        }
        return found.sorted { $0.generation < $1.generation }
    }

    /// Makes a file without a byte.
    /// - Parameters:
    ///   - others: the names of the parts that are there.
    ///   - question: the request that will be sent, and its user.
    ///   - place: where it is to be saved.
    ///   - replaceable: which file that has the name may be replaced.
    ///   - environment: the machine.
    /// - Returns: it, open and locked.
    /// - Throws: as ``findAll(for:continuing:at:replacing:in:)``.
    static func make(
        besides others: [PartialName.Candidate] = [],
        for question: DownloadQuestion,
        at place: DownloadPlace,
        replacing replaceable: ReplaceableFile,
        in environment: DownloadEnvironment
    ) throws -> FoundPart {
        let name = PartialName(of: place.name)
        for number in 0..<PartialName.candidateCount {
            let names = name.candidate(number)
            guard !others.contains(names),
                let made = try take(
                    names,
                    for: question,
                    continuing: nil,
                    at: place,
                    replacing: replaceable,
                    in: environment
                )
            else { continue }
            return made
        }
        throw DownloadError.noFreeName(place.url)
    }

    /// - Returns: `nil` if the names are taken by what is not ours.
    private static func take(
        _ names: PartialName.Candidate,
        for question: DownloadQuestion,
        continuing source: SourceFile?,
        at place: DownloadPlace,
        replacing replaceable: ReplaceableFile,
        in environment: DownloadEnvironment
    ) throws -> FoundPart? {
        guard let file = try lock(names, at: place) else { return nil }
        var found: FoundPart?
        do {
            found = try recover(file, names, for: question, source, at: place, in: environment)
            // The name of the part may be free because another operation has just completed the file.
            if found != nil { try place.check(replacing: replaceable) }
        } catch {
            if try file.status.size == 0 { try place.folder.remove(names.part) }
            throw error
        }
        // What was made here only to find that the names beside it are taken.
        if found == nil, try file.status.size == 0 { try place.folder.remove(names.part) }
        return found
    }

    /// Opens or makes a file, and locks it.
    /// - Returns: `nil` if the name is taken by something that is not ours.
    private static func lock(_ names: PartialName.Candidate, at place: DownloadPlace) throws -> PartFile? {
        let (folder, name) = (place.folder, names.part)
        // Again and again as long as another process makes and removes it in between.
        for _ in 0..<100 {
            let file: PartFile
            /// `nil`: it was made here.
            let trust: FileTrust?
            switch try folder.status(of: name) {
            case .nothing:
                guard let made = try folder.create(name, as: .part) else { continue }
                (file, trust) = (made, nil)
            case .file(let status):
                guard try folder.mayBeOurs(status) else { return nil }
                do {
                    guard let opened = try folder.open(name) else { continue }
                    // Another file may have the name since it was looked at.
                    (file, trust) = (opened, try folder.trust(opened, as: .part))
                } catch let error as SystemError where error.isLackOfPermission {
                    return nil
                }
            case .directory, .symbolicLink, .other:
                return nil
            }
            let claim = PartClaim(trust, lock: try file.lock())
            if claim == .wait {
                // Another process, or operation, may download to a destination whose part can have this name.
                let checkpoint = try folder.checkpoint(names.checkpoint).checkpoint
                if let checkpoint, place.isOfOther(checkpoint, names) { return nil }
                // Before the first head nothing says to which.
                if checkpoint == nil, place.mayBeOfOther(names) { return nil }
                throw DownloadError.inUse(place.url)
            }
            // The process that had the lock may have removed the file, or given it its final name and taken
            // its mark away, in the meantime; what has the name now is another one's.
            guard case .file(let named) = try folder.status(of: name),
                try named.identity == file.status.identity
            else { continue }
            switch claim {
            case .take, .wait: break
            case .useOtherName: return nil
            case .makeAnew:
                try folder.remove(name)
                continue
            }
            // What is made here needs no proof that it is ours: on some file systems it belongs to another
            // user.
            return try trust == nil || folder.mayBeOurs(named) ? file : nil
        }
        throw DownloadError.inUse(place.url)
    }

    /// - Returns: `nil` if the file is not ours.
    private static func recover(
        _ file: PartFile,
        _ names: PartialName.Candidate,
        for question: DownloadQuestion,
        _ source: SourceFile?,
        at place: DownloadPlace,
        in environment: DownloadEnvironment
    ) throws -> FoundPart? {
        let status = try file.status
        let finding = try place.folder.finding(names)
        var facts = PartRecovery.Facts(request: question.request, finding: finding, part: status)
        facts.session = environment.session(file)
        facts.source = source
        facts.takesOtherLocations = question.takesOtherLocations
        facts.knowsWhole = question.knowsWhole
        if case .file = try place.folder.status(of: place.name) { facts.replacesFile = true }
        if let checkpoint = finding.checkpoint {
            facts.isOfOtherDestination = place.isOfOther(checkpoint, names)
            facts.isSameAsker = question.asker.namesUsers(of: checkpoint.asker)
            facts.isVerified = question.accepts(checkpoint)
            facts.dependsOnTrust = question.dependsOnTrust(checkpoint)
            facts.isSameVariant = checkpoint.isVariant(of: question.varying)
            facts.intactBlocks = checkpoint.blocks.prefix { $0.isIntact(in: file) }.count
        }
        var found = FoundPart(names: names, file: file, status: status)
        switch PartRecovery(facts) {
        case .useOtherName:
            return nil
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
            guard var checkpoint = finding.checkpoint else { return nil }
            if length < status.size { try file.truncate(to: length) }
            if length < checkpoint.committed {
                checkpoint.rollBack(to: length)
                // Before a byte comes behind it: the old checkpoint would count it as committed.
                try file.synchronizeData()
                try place.folder.save(checkpoint, names, isDurable: true)
            }
            found.checkpoint = checkpoint
            found.length = length
        }
        return found
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
        if try trust(of: names.temporary, as: .checkpoint) == FileTrust.none { return .notOurs }
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
            as: .checkpoint,
            temporary: names.temporary,
            isDurable: isDurable
        )
    }
}

/// The treatment of a file that has the name of a partial file.
///
/// | Its trust  | Its lock                 | Claim                                                                    |
/// |------------|--------------------------|--------------------------------------------------------------------------|
/// | made here  | held                     | in use: another process found it first                                   |
/// | made here  | any other                | taken                                                                    |
/// | none       | any                      | another name: it is not known who made it                               |
/// | blank      | taken                    | made anew: its process died as it made it                                |
/// | unmarked   | taken                    | taken; its checkpoint says what it is worth                              |
/// | full       | taken                    | taken                                                                    |
/// | any other  | held                     | in use: no other user can have opened it                                 |
/// | any other  | the system has no locks  | another name: it may be being written                        |
enum PartClaim: Hashable, Sendable {
    case take
    case makeAnew
    case useOtherName
    /// The part is in use.
    case wait

    /// - Parameters:
    ///   - trust: of the file; `nil`: it was just made.
    ///   - lock: what came of locking it.
    init(_ trust: FileTrust?, lock: PartFile.Lock) {
        self =
            switch (trust, lock) {
            case (nil, .taken), (nil, .unsupported), (.unmarked?, .taken), (.full?, .taken): .take
            case (.blank?, .taken): .makeAnew
            case (nil, .held), (.blank?, .held), (.unmarked?, .held), (.full?, .held): .wait
            case (.none?, _), (_?, .unsupported): .useOtherName
            }
    }
}
