internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The place of a download: an open folder, and a name in it.
struct DownloadPlace {
    let url: URL
    let name: String
    let folder: DownloadFolder

    /// - Parameters:
    ///   - url: of the file; its folder has to exist.
    ///   - watch: is told of every change.
    ///   - marker: marks new files.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    init(
        _ url: URL,
        watch: FileChange.Watcher?,
        marker: @escaping DownloadFolder.Marker = { try $0.mark($1) }
    ) throws {
        let path = url.path
        let name = Self.name(of: url)
        guard url.namesLocalFile, !name.isEmpty, name != ".", name != ".." else {
            throw DownloadError.invalidDestination(url)
        }
        self.url = url
        self.name = name
        do {
            let parent = String(Substring(path.utf8.dropLast(name.utf8.count)))
            let path = parent.isEmpty ? "." : parent
            folder = try DownloadFolder(path: path, watch: watch, marker: marker)
        } catch {
            throw FileError.foundation(error, url)
        }
    }

    private static let separator = UInt8(ascii: "/")

    /// The name, which follows the last slash. A byte is looked for: with an accent behind it, a slash is
    /// another character.
    static func name(of url: URL) -> String { FileName.last(of: url.path) }

    /// The options and the request in a checkpoint.
    /// - Throws: ``DownloadError/checkpointUnreadable(_:)``, or a `CocoaError`.
    static func wish(in url: URL) throws -> (DownloadCheckpoint.Wish, URLRequest) {
        let place = try DownloadPlace(url, watch: nil)
        let read = try FileError.translating(url) { try place.provenCheckpoint() }
        guard let checkpoint = read, let request = checkpoint.request.request,
            !checkpoint.wish.name.isEmpty, !checkpoint.wish.name.utf8.contains(Self.separator)
        else { throw DownloadError.checkpointUnreadable(url) }
        return (checkpoint.wish, request)
    }

    /// The checkpoint that has the name, if it is certain that a download of this user's made it.
    private func provenCheckpoint() throws -> DownloadCheckpoint? {
        switch try folder.checkpoint(name) {
        case .checkpoint(let checkpoint):
            return checkpoint
        case .unmarked(let checkpoint):
            // As in `PartRecovery`: only one that was written here names the session and its part.
            let part = String(name.dropLast(PartialName.Candidate.checkpointEnding.count))
            guard name.hasSuffix(PartialName.Candidate.checkpointEnding),
                case .file = try folder.status(of: part),
                let file = try folder.open(part), try file.status.identity == checkpoint.part,
                let session = DownloadEnvironment().session(file), session == checkpoint.session
            else { return nil }
            return checkpoint
        case .none, .unreadable, .notOurs:
            return nil
        }
    }

    /// The file with this name beside it.
    func sibling(_ name: String) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(name, isDirectory: false)
    }

    /// Whether anything has the name.
    var isTaken: Bool {
        get throws { try folder.status(of: name) != .nothing }
    }

    /// Looks whether the name may be given to a file.
    /// - Throws: ``DownloadError`` if not; `SystemError`.
    func check(replacing replaceable: ReplaceableFile) throws {
        switch try folder.status(of: name) {
        case .nothing where url.hasDirectoryPath: throw DownloadError.invalidDestination(url)
        case .nothing: break
        case .file(let status):
            try removeLeftovers(of: status)
            guard try replaceable.contains(status, at: url) else {
                throw DownloadError.destinationExists(url)
            }
            // Better now than when all bytes are there.
            guard folder.mayReplace(name) else { throw DownloadError.destinationOfOtherUser(url) }
        case .directory: throw DownloadError.destinationIsDirectory(url)
        case .symbolicLink, .other: throw DownloadError.destinationIsNotFile(url)
        }
    }

    /// Removes what a process that died left beside a file that it had just completed: a checkpoint that
    /// tells of this very file, and a second name for it. Only where all of it is this user's: another user
    /// may have made it look so.
    private func removeLeftovers(of file: FileStatus) throws {
        guard file.owner == folder.user else { return }
        try PartialName(of: name).search { try removeLeftovers(of: file, $0) }
    }

    /// - Returns: whether there was anything with one of these names.
    private func removeLeftovers(of file: FileStatus, _ names: PartialName.Candidate) throws -> Bool {
        let finding = try folder.checkpoint(names.checkpoint)
        let part = try folder.status(of: names.part)
        if case .none = finding, part == .nothing { return false }
        let checkpoint = finding.checkpoint
        // `log.1.part` may be one of `log.1`.
        if let checkpoint, isOfOther(checkpoint, names) { return true }
        switch part {
        case .nothing:
            // The part was in this folder, so on this device, whose number may be another one now.
            guard let checkpoint, checkpoint.part.inode == file.identity.inode else { break }
            complete(file, checkpoint)
            try removeParts(before: checkpoint.generation ?? 0)
            try folder.remove(names.checkpoint)
        case .file(let part) where part.identity == file.identity:
            // Others may have linked the two. The plain name with a checkpoint, if only a torn one, is ours.
            let isPlain = names.part == PartialName(of: name).candidate(0).part && finding.isOurs
            guard isPlain || checkpoint?.part.inode == file.identity.inode || hasMark(file) else { break }
            complete(file, checkpoint)
            try removeParts(before: checkpoint?.generation ?? 0)
            try folder.remove(names.part)
            if isPlain || checkpoint != nil { try folder.remove(names.checkpoint) }
        case .file, .directory, .symbolicLink, .other:
            break
        }
        return true
    }

    private func hasMark(_ file: FileStatus) -> Bool {
        guard let opened = try? folder.open(name), (try? opened.status.identity) == file.identity else {
            return false
        }
        return opened.look(for: .part) == .present
    }

    /// Whether a download to another name of this folder left the file. A part and its checkpoint that were
    /// given the names of this destination are its own: then those cannot be of the other one.
    func isOfOther(_ checkpoint: DownloadCheckpoint, _ names: PartialName.Candidate) -> Bool {
        let other = checkpoint.wish.name
        return !other.isEmpty && !other.utf8.elementsEqual(name.utf8)
            && PartialName(of: other).mayBe(names.part)
    }

    /// Whether these names of this destination's part can also be those of another one: `log.1.part` is one
    /// of `log` as well as of `log.1`.
    func mayBeOfOther(_ names: PartialName.Candidate) -> Bool {
        guard names.part == PartialName(of: name).candidate(0).part else { return true }
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return false }
        return PartialName(of: String(name[..<dot])).mayBe(names.part)
    }

    /// Does for a file with its name what ``NamedPart/name(_:)`` had not done yet: the final mode, and then
    /// the mark. Without the mark the mode is as it is to be, or the file is another one: a file system gives
    /// the inode of a file that was removed to the next.
    private func complete(_ file: FileStatus, _ checkpoint: DownloadCheckpoint?) {
        guard let opened = try? folder.open(name), let status = try? opened.status,
            status.identity == file.identity, opened.look(for: .part) == .present
        else { return }
        // What a file that was replaced let others do is not known any more.
        if status.mode == 0o600, checkpoint?.mayReplace == false { opened.grant(folder.accessOfNewFile) }
        opened.removeMark()
    }
}

extension DownloadFolder {
    /// Reads a checkpoint.
    func checkpoint(_ name: String) throws -> PartRecovery.Facts.Finding {
        switch try contents(of: name, as: .checkpoint, limit: DownloadCheckpoint.maximumFileLength) {
        case .nothing: .none
        case .notOurs: .notOurs
        case .tooLong: .unreadable
        case .bytes(let bytes, let isMarked):
            (try? DownloadCheckpoint(fileBytes: bytes)).map { isMarked ? .checkpoint($0) : .unmarked($0) }
                ?? .unreadable
        }
    }
}

/// The existing file that a complete download may replace, when it gets its name.
package enum ReplaceableFile: Hashable, Sendable {
    case none
    /// One without bytes, such as mktemp(1) makes.
    case empty
    /// One of this length and time, in nanoseconds since 1970: one that was looked at, and is still the same.
    case unchanged(length: Int64, seconds: Int64, nanoseconds: Int64)
    case any

    /// Whether the file with this status, which has the name `url`, is such a one.
    func contains(_ status: FileStatus, at url: URL) throws -> Bool {
        switch self {
        case .none: false
        case .empty: status.size == 0
        case .unchanged(let length, let seconds, let nanoseconds):
            try FileStamp(path: url.path)
                == FileStamp(length: length, seconds: seconds, nanoseconds: nanoseconds)
        case .any: true
        }
    }
}
