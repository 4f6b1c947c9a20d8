internal import Foundation
internal import OperationNetworkingSystem

/// A partial file under its names, with the checkpoint beside it: what is done by name, and the looks whether
/// the name still is the file's (B12).
struct NamedPart {
    let file: PartFile
    let identity: FileIdentity
    /// When the file was made.
    let birth: FileBirth?
    /// The run of the kernel, and the mount, under which the file is written.
    let session: String?
    /// Whether a file that has the complete one's name may be replaced.
    private let mayReplace: Bool
    private let place: DownloadPlace
    let names: PartialName.Candidate
    /// The checkpoint that was written last, if one was.
    var savedCheckpoint: FileIdentity?

    init(
        _ found: FoundPart,
        at place: DownloadPlace,
        replacing mayReplace: Bool,
        session: String?
    ) {
        file = found.file
        identity = found.status.identity
        birth = found.file.birth
        names = found.names
        self.place = place
        self.mayReplace = mayReplace
        self.session = session
    }

    var url: URL { place.sibling(names.part) }
    var checkpointURL: URL { place.sibling(names.checkpoint) }
    /// The complete file's.
    var destination: URL { place.url }

    /// Reads the file on any queue, while it is written here.
    func reader() throws -> DigestFollower.Reader {
        let reader = try file.reader()
        return { offset, buffer in try reader.read(into: &buffer, at: offset) }
    }

    /// - Throws: an error unless the name still is that of the file, and the file has `length` bytes.
    func checkIdentity(length: Int64) throws {
        guard hasName, try file.status.size == length else {
            throw DownloadError.partialFileReplaced(url)
        }
    }

    /// Whether the name still is that of the file.
    var hasName: Bool { has(names.part) }

    private func has(_ name: String) -> Bool {
        guard case .file(let status) = try? place.folder.status(of: name) else { return false }
        return status.identity == identity
    }

    /// Writes the checkpoint in the place of the one before.
    func save(_ checkpoint: DownloadCheckpoint, isDurable: Bool) throws -> FileIdentity {
        try place.folder.save(checkpoint, names, isDurable: isDurable)
    }

    // MARK: - The end

    /// The users who may read and write the complete file.
    func access() throws -> FileAccess { try place.folder.access(to: file, named: place.name) }

    /// Gives the file the name of the complete one.
    func name() throws {
        // What a process left that was killed while it wrote a checkpoint. While the part has its name, and
        // its lock, no other process writes one.
        try? place.folder.remove(names.temporary)
        try rename()
    }

    private func rename() throws {
        do {
            guard mayReplace else {
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
            throw DownloadError.partialFileReplaced(url)
        }
        // In a folder where others may rename our files, it may have been another one.
        guard has(place.name) else { throw DownloadError.partialFileReplaced(url) }
    }

    /// Brings the file's name to the disk.
    func synchronizeName() throws {
        try place.folder.synchronize()
    }

    /// After the name: removes our checkpoint. Another process may have begun anew, now that the name of the
    /// part is free.
    func removeCheckpoint() throws {
        guard case .file(let status) = try place.folder.status(of: names.checkpoint),
            savedCheckpoint == nil || savedCheckpoint == status.identity
        else { return }
        try place.folder.remove(names.checkpoint)
    }

    /// Closes the file; one without bytes is removed.
    func close() {
        defer { file.close() }
        guard let status = try? file.status, status.size == 0, has(names.part) else { return }
        // What stays is found, and removed, by the next one.
        try? place.folder.remove(names.temporary)
        try? place.folder.remove(names.checkpoint)
        try? place.folder.remove(names.part)
    }
}
