import Foundation
import OperationNetworking

/// An existing file about which something is found out that takes its time: its checksum, or whether its last
/// bytes are the server's. Another program may change, replace or remove it meanwhile.
struct ExaminedFile: Hashable, Sendable {
    /// The file after the examination.
    ///
    /// | The name is taken               | by the same file, unchanged | The finding                        |
    /// |---------------------------------|-----------------------------|------------------------------------|
    /// | no                              | -                           | no file has it: the item is fetched |
    /// | yes                             | yes                         | counts                             |
    /// | yes, or it is a link to nothing | no                          | an error; the file stays as it is  |
    enum Fate: Hashable, Sendable {
        case unchanged, changed, removed

        init(isTaken: Bool, isSame: Bool) {
            self = !isTaken ? .removed : isSame ? .unchanged : .changed
        }
    }

    let path: FilePath
    private let version: SeenVersion?

    /// Looks at the file, before anything is found out about it.
    init(of path: FilePath) {
        self.path = path
        version = SeenVersion(of: path.url)
    }

    /// Looks at the file again.
    /// - Throws: `Failure` when the system does not tell.
    func fate() throws -> Fate {
        let now = SeenVersion(of: path.url)
        // After that: a file that is removed in between is gone.
        let isTaken = try FileStatus(of: path) != .nothing
        return Fate(isTaken: isTaken, isSame: now != nil && now == version)
    }

    /// Finds something out, and looks at the file again.
    ///
    /// - Parameter work: reads the file.
    /// - Returns: what `work` returned; `nil` if the file was removed meanwhile.
    /// - Throws: `Failure` with ``Outcome/exists`` if the file was changed or replaced meanwhile; another one
    ///   when the system does not tell; else what `work` throws.
    func examine<Finding>(_ work: () throws -> Finding) throws -> Finding? {
        let finding = Swift.Result { try work() }
        switch try fate() {
        case .unchanged: return try finding.get()
        case .removed: return nil
        case .changed: throw Failure(changed: path)
        }
    }
}

/// An existing file, and the comparison of its last bytes with those of the server.
struct ComparedFile: Hashable, Sendable {
    let file: ExaminedFile
    let comparison: FileComparison
}

extension Failure {
    /// A file that another program changed or replaced while it was examined.
    init(changed path: FilePath) {
        self.init(
            .exists,
            "\(path.text) was changed or replaced while it was checked, and is left as it is now: try again, "
                + "or use --overwrite, -c or -N."
        )
    }
}
