import Foundation
internal import OperationNetworkingSystem

/// The directory of one download until its file is moved away. Every method may block on the disk.
struct TemporaryDownload: Hashable, Sendable {
    private static let prefix = "OperationNetworking.download-"
    private static let fileName = "download"

    /// The URL of the complete file.
    let file: URL

    /// Creates a directory for this user only, in `folder` or the temporary directory.
    /// - Throws: a `CocoaError`.
    init(in folder: URL?) throws {
        let folder = folder ?? FileManager.default.temporaryDirectory
        let directory = folder.appendingPathComponent(Self.prefix + UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(
            at: directory,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        file = directory.appendingPathComponent(Self.fileName, isDirectory: false)
    }

    /// Refers to the directory of an earlier task.
    init(file: URL) {
        self.file = file
    }

    /// Moves the file to a destination that does not exist yet.
    /// - Throws: ``SessionError/fileNotMoved(temporary:destination:reason:)``; the file then stays where it
    ///   is.
    func move(to destination: URL) throws {
        do {
            guard destination.isFileURL else { throw CocoaError(.fileNoSuchFile) }
            guard file.standardizedFileURL != destination.standardizedFileURL else { return }
            try rename(file, to: destination)
        } catch {
            throw SessionError.fileNotMoved(
                temporary: file,
                destination: destination,
                reason: Self.sentence(error)
            )
        }
    }

    /// Removes the complete file, if it is there, and then the directory, unless another file is left in it.
    func removeAll() {
        guard isOwned else { return }
        // A failure can no longer be reported, and a leftover in the temporary directory does no harm.
        try? FileManager.default.removeItem(at: file)
        removeEmptyDirectory()
    }

    /// Removes the directory, unless a file is left in it.
    func removeEmptyDirectory() {
        let directory = file.deletingLastPathComponent()
        let files = FileManager.default
        guard isOwned, let names = try? files.contentsOfDirectory(atPath: directory.path), names.isEmpty
        else { return }
        try? files.removeItem(at: directory)
    }

    /// Whether the directory is the library's own: resume data may name any other.
    private var isOwned: Bool {
        let directory = file.deletingLastPathComponent().lastPathComponent
        return directory.hasPrefix(Self.prefix) && file.lastPathComponent == Self.fileName
    }

    /// Moves the file. Fails if the destination exists.
    private func rename(_ file: URL, to destination: URL) throws {
        do {
            try FileMove.move(file.path, to: destination.path)
        } catch let error as SystemError where error.isOtherFileSystem {
            // Copy the file next to the destination, then rename it. First check that the copy is not made in
            // vain.
            guard (try? FileManager.default.attributesOfItem(atPath: destination.path)) == nil else {
                throw SystemError(SystemError.exists, "rename \(destination.path)")
            }
            let copy = destination.deletingLastPathComponent()
                .appendingPathComponent(".\(UUID().uuidString)", isDirectory: false)
            do {
                try FileManager.default.copyItem(at: file, to: copy)
                // The original was safe on disk, and is about to be removed.
                try FileMove.synchronize(copy.path)
                try FileMove.move(copy.path, to: destination.path)
            } catch {
                try? FileManager.default.removeItem(at: copy)
                throw error
            }
            // Not every file system supports this; and the file is at its destination, whatever happens to
            // the original.
            try? FileMove.synchronize(destination.deletingLastPathComponent().path)
            try? FileManager.default.removeItem(at: file)
        }
    }

    private static func sentence(_ error: any Error) -> String {
        if let error = error as? SystemError {
            return switch POSIXErrorCode(rawValue: error.code) {
            case .EEXIST?: "a file with that name exists."
            case .ENOENT?, .ENOTDIR?: "the folder does not exist."
            default: error.reason
            }
        }
        return switch (error as? CocoaError)?.code {
        case .fileNoSuchFile?, .fileReadNoSuchFile?: "the folder does not exist."
        default: error.localizedDescription
        }
    }
}
