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
            try link(file, to: destination)
            try FileManager.default.removeItem(at: file)
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
        // Resume data may name another directory, which is not this library's.
        let directory = file.deletingLastPathComponent()
        guard directory.lastPathComponent.hasPrefix(Self.prefix), file.lastPathComponent == Self.fileName
        else { return }
        let files = FileManager.default
        // A failure cannot be reported any more, and a leftover in the temporary directory does no harm.
        try? files.removeItem(at: file)
        guard let names = try? files.contentsOfDirectory(atPath: directory.path), names.isEmpty else {
            return
        }
        try? files.removeItem(at: directory)
    }

    /// Gives the file a second name. link(2) fails if anything has that name by then, as a rename does not.
    private func link(_ file: URL, to destination: URL) throws {
        do {
            try FileManager.default.linkItem(at: file, to: destination)
        } catch  where Self.isTaken(destination) {
            throw CocoaError(.fileWriteFileExists)
        } catch {
            // Another file system, or one without links: a copy beside the destination, and then its name.
            let copy = destination.deletingLastPathComponent()
                .appendingPathComponent(".\(UUID().uuidString)", isDirectory: false)
            defer { try? FileManager.default.removeItem(at: copy) }
            try FileManager.default.copyItem(at: file, to: copy)
            do {
                try FileManager.default.linkItem(at: copy, to: destination)
            } catch {
                try FileManager.default.moveItem(at: copy, to: destination)
            }
        }
    }

    /// Whether anything has the name, be it a link that leads nowhere.
    private static func isTaken(_ url: URL) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: url.path)) != nil
    }

    private static func sentence(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileWriteFileExists?: "a file of that name exists."
        case .fileNoSuchFile?, .fileReadNoSuchFile?: "there is no such folder."
        default: error.localizedDescription
        }
    }
}
