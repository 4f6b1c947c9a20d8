internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The place of a complete file: an open folder, and a name in it.
struct DownloadPlace {
    let url: URL
    let name: String
    let folder: DownloadFolder

    /// - Parameters:
    ///   - url: the URL of the file; its folder must exist.
    ///   - watch: called before every change.
    /// - Throws: ``DownloadError``, or a `CocoaError`.
    init(_ url: URL, watch: FileChange.Watcher?) throws {
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
            folder = try DownloadFolder(path: path, watch: watch)
        } catch {
            throw FileError.foundation(error, url)
        }
    }

    private static let separator = UInt8(ascii: "/")

    /// Returns the name, which follows the last slash byte. Compared as a `Character`, a slash with a combining
    /// accent would differ.
    static func name(of url: URL) -> String { FileName.last(of: url.path) }

    /// Reads the name of the complete file, the options and the request from a checkpoint.
    /// - Throws: ``DownloadError/checkpointUnreadable(_:)``, or a `CocoaError`.
    static func noted(in url: URL) throws -> (name: String, options: DownloadOptions, request: URLRequest) {
        let place = try DownloadPlace(url, watch: nil)
        let read = try FileError.translating(url) { try place.provenCheckpoint() }
        guard let checkpoint = read, let request = checkpoint.request.request,
            checkpoint.request.withholdsQuery != true,
            !checkpoint.name.isEmpty, !checkpoint.name.utf8.contains(Self.separator)
        else { throw DownloadError.checkpointUnreadable(url) }
        return (checkpoint.name, checkpoint.options, request)
    }

    /// Returns the checkpoint with this name if a download of this user certainly wrote it: it identifies the part
    /// next to it.
    private func provenCheckpoint() throws -> DownloadCheckpoint? {
        let part = String(name.dropLast(PartialName.Candidate.checkpointEnding.count))
        guard name.hasSuffix(PartialName.Candidate.checkpointEnding),
            case .checkpoint(let checkpoint) = try folder.checkpoint(name),
            case .file(let file) = try folder.openOwn(part), checkpoint.part.proves(file.lastingIdentity)
        else { return nil }
        return checkpoint
    }

    /// Returns the URL of a file with another name in the folder.
    func sibling(_ name: String) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(name, isDirectory: false)
    }

    /// Checks whether a file may get the name.
    /// - Throws: ``DownloadError`` if not; `SystemError`.
    func check(replacing replaces: Bool) throws {
        switch try folder.status(of: name) {
        case .nothing where url.hasDirectoryPath: throw DownloadError.invalidDestination(url)
        case .nothing: break
        case .file(let status):
            try removeLeftovers(of: status)
            guard replaces else {
                throw DownloadError.destinationExists(url)
            }
            // Better now than when all bytes have been received.
            guard folder.mayReplace(name) else { throw DownloadError.destinationOfOtherUser(url) }
        case .directory: throw DownloadError.destinationIsDirectory(url)
        case .symbolicLink, .other: throw DownloadError.destinationIsNotFile(url)
        }
    }

    /// Removes what a killed process left next to a file that it had just completed: a checkpoint that identifies
    /// this file, and a second name for it. Only files of this user are removed, because another user may have
    /// created them.
    private func removeLeftovers(of file: FileStatus) throws {
        guard file.owner == folder.user else { return }
        for names in PartialName(of: name).candidates { try removeLeftovers(of: file, names) }
    }

    private func removeLeftovers(of file: FileStatus, _ names: PartialName.Candidate) throws {
        guard let checkpoint = try folder.checkpoint(names.checkpoint).checkpoint,
            checkpoint.part.inode == file.identity.inode, let opened = try? folder.identify(name),
            opened.identity == file.identity, checkpoint.part.proves(opened.lastingIdentity),
            // `log.1.part` may belong to `log.1`.
            !isOfOther(checkpoint, names)
        else { return }
        switch try folder.status(of: names.part) {
        case .nothing: break
        // It has both names, because names are given by links here.
        case .file(let part) where part.identity == file.identity: try folder.remove(names.part)
        case .file, .directory, .symbolicLink, .other: return
        }
        try removeParts(before: checkpoint.generation ?? 0)
        try folder.remove(names.checkpoint)
    }

    /// Whether a download to another destination in this folder left the checkpoint and its part. If both have been
    /// renamed to names of this destination, they belong to this one, because they cannot belong to the other.
    func isOfOther(_ checkpoint: DownloadCheckpoint, _ names: PartialName.Candidate) -> Bool {
        let other = checkpoint.name
        return !other.isEmpty && !other.utf8.elementsEqual(name.utf8)
            && PartialName(of: other).mayBe(names.part)
    }

    /// Whether a part of another destination may have the same names: `log.1.part` may belong to `log` and to
    /// `log.1`.
    func mayBeOfOther(_ names: PartialName.Candidate) -> Bool {
        guard names.part == PartialName(of: name).candidate(0).part else { return true }
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return false }
        return PartialName(of: String(name[..<dot])).mayBe(names.part)
    }
}

extension DownloadFolder {
    /// Reads a checkpoint.
    func checkpoint(_ name: String) throws -> PartRecovery.Facts.Finding {
        switch try contents(of: name, limit: DownloadCheckpoint.maximumFileLength) {
        case .nothing: return .none
        case .notOurs, .tooLong: return .notOurs
        case .bytes(let bytes):
            do throws(DownloadCheckpoint.Unreadable) {
                return .checkpoint(try DownloadCheckpoint(fileBytes: bytes))
            } catch {
                switch error {
                // A file that was created but not written, as a loss of power can leave it.
                case .notACheckpoint: return bytes.isEmpty ? .unreadable : .notOurs
                case .otherSchema: return .otherVersion
                case .damaged: return .unreadable
                }
            }
        }
    }
}

extension DownloadPlace {
    /// Removes older parts, which were kept until one of this generation was complete.
    func removeParts(before generation: Int) throws {
        guard generation > 0 else { return }
        for names in PartialName(of: name).candidates {
            guard case .file(let file) = try folder.openOwn(names.part), try file.lock() == .taken else {
                continue
            }
            switch try folder.checkpoint(names.checkpoint) {
            // A process died while removing it.
            case .none where try file.status.size == 0 && file.status.mode & 0o077 == 0: break
            case .checkpoint(let checkpoint)
            where checkpoint.part.proves(file.lastingIdentity)
                && checkpoint.name.utf8.elementsEqual(name.utf8)
                && (checkpoint.generation ?? 0) < generation:
                break
            case .none, .checkpoint, .unreadable, .otherVersion, .notOurs: continue
            }
            // First, because bytes without a checkpoint would count as another program's.
            try file.truncate(to: 0)
            try folder.remove(names.checkpoint)
            try folder.remove(names.part)
        }
    }
}
