internal import Foundation
internal import OperationNetworkingSystem

/// A partial file with its names and its checkpoint: operations by name, and checks that the name still refers to the
/// file (B12).
struct NamedPart {
    let file: PartFile
    /// The boot and the mount under which the file is written.
    let session: String?
    /// Whether an existing complete file may be replaced.
    private let mayReplace: Bool
    private let place: DownloadPlace
    let names: PartialName.Candidate
    /// The last written checkpoint, if any.
    var savedCheckpoint: FileIdentity?

    init(
        _ found: FoundPart,
        at place: DownloadPlace,
        replacing mayReplace: Bool,
        session: String?
    ) {
        file = found.file
        names = found.names
        self.place = place
        self.mayReplace = mayReplace
        self.session = session
    }

    var url: URL { place.sibling(names.part) }
    var checkpointURL: URL { place.sibling(names.checkpoint) }
    /// The URL of the complete file.
    var destination: URL { place.url }

    /// Returns a closure that reads the file on any queue while it is written here.
    func reader() throws -> DigestFollower.Reader {
        let reader = try file.reader()
        return { offset, buffer in try reader.read(into: &buffer, at: offset) }
    }

    /// Checks that the name still refers to the file, and that the file has `length` bytes.
    /// - Throws: ``DownloadError/partialFileReplaced(_:)`` if not.
    func checkIdentity(length: Int64) throws {
        guard hasName, try file.status.size == length else {
            throw DownloadError.partialFileReplaced(url)
        }
    }

    /// Whether the name still refers to the file.
    var hasName: Bool { has(names.part) }

    private func has(_ name: String) -> Bool {
        guard case .file(let status) = try? place.folder.status(of: name) else { return false }
        return status.identity == file.identity
    }

    /// Replaces the checkpoint.
    func save(_ checkpoint: DownloadCheckpoint, isDurable: Bool) throws -> FileIdentity {
        try place.folder.save(checkpoint, names, isDurable: isDurable)
    }

    // MARK: - The end

    /// Returns who may read and write the complete file.
    func access() throws -> FileAccess { try place.folder.access(to: file, named: place.name) }

    /// Renames the file to the name of the complete one.
    func name() throws {
        // A killed process may have left it. While the part has its name and its lock, no other process writes one.
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
        // In a folder where others may rename our files, another file may have been renamed.
        guard has(place.name) else { throw DownloadError.partialFileReplaced(url) }
    }

    /// Writes the file's name to disk.
    func synchronizeName() throws {
        try place.folder.synchronize()
    }

    /// Removes our checkpoint after the rename. Another process may have begun again, because the name of the part is
    /// free.
    func removeCheckpoint() throws {
        guard case .file(let status) = try place.folder.status(of: names.checkpoint),
            savedCheckpoint == nil || savedCheckpoint == status.identity
        else { return }
        try place.folder.remove(names.checkpoint)
    }

    /// Closes the file, and removes it if it is empty.
    func close() {
        defer { file.close() }
        guard let status = try? file.status, status.size == 0, has(names.part) else { return }
        // Leftovers are removed by the next download.
        try? place.folder.remove(names.temporary)
        try? place.folder.remove(names.checkpoint)
        try? place.folder.remove(names.part)
    }
}
