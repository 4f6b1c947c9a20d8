import Foundation
internal import OperationNetworkingSystem

/// The directory of one download until its file is moved away. Every method may wait for the disk.
struct TemporaryPlace: Hashable, Sendable {
    private static let prefix = "OperationNetworking.download-"
    private static let fileName = "download"

    /// The name of the complete file.
    let file: URL

    /// One that is made now, for this user alone, in `folder`, or in the temporary directory.
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

    /// The place of an earlier task.
    init(file: URL) {
        self.file = file
    }

    /// Gives the file another name, which nothing has.
    /// - Throws: ``SessionError/fileNotMoved(temporary:destination:reason:)``; the file stays then.
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
        guard isOurs else { return }
        // A failure cannot be reported any more, and a leftover in the temporary directory does no harm.
        try? FileManager.default.removeItem(at: file)
        removeEmptyDirectory()
    }

    /// Removes the directory, unless a file is left in it.
    func removeEmptyDirectory() {
        let directory = file.deletingLastPathComponent()
        let files = FileManager.default
        guard isOurs, let names = try? files.contentsOfDirectory(atPath: directory.path), names.isEmpty else {
            return
        }
        try? files.removeItem(at: directory)
    }

    /// Resume data may name another directory, which is not this library's.
    private var isOurs: Bool {
        let directory = file.deletingLastPathComponent().lastPathComponent
        return directory.hasPrefix(Self.prefix) && file.lastPathComponent == Self.fileName
    }

    /// Fails if anything has the name by then.
    private func rename(_ file: URL, to destination: URL) throws {
        do {
            try FileMove.move(file.path, to: destination.path)
        } catch let error as SystemError where error.isOtherFileSystem {
            // A copy beside the destination, and then its name. None is made in vain.
            guard (try? FileManager.default.attributesOfItem(atPath: destination.path)) == nil else {
                throw SystemError(SystemError.exists, "rename \(destination.path)")
            }
            let copy = destination.deletingLastPathComponent()
                .appendingPathComponent(".\(UUID().uuidString)", isDirectory: false)
            do {
                try FileManager.default.copyItem(at: file, to: copy)
                // The original was on the disk, and is about to go.
                try FileMove.synchronize(copy.path)
                try FileMove.move(copy.path, to: destination.path)
            } catch {
                try? FileManager.default.removeItem(at: copy)
                throw error
            }
            // Not every file system can; and the file is where it was wanted, whatever becomes of the
            // original.
            try? FileMove.synchronize(destination.deletingLastPathComponent().path)
            try? FileManager.default.removeItem(at: file)
        }
    }

    private static func sentence(_ error: any Error) -> String {
        if let error = error as? SystemError {
            return switch POSIXErrorCode(rawValue: error.code) {
            case .EEXIST?: "a file of that name exists."
            case .ENOENT?, .ENOTDIR?: "there is no such folder."
            default: error.reason
            }
        }
        return switch (error as? CocoaError)?.code {
        case .fileNoSuchFile?, .fileReadNoSuchFile?: "there is no such folder."
        default: error.localizedDescription
        }
    }
}
