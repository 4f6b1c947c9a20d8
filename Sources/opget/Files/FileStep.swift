import OperationNetworking

/// The treatment of an item whose file may exist: a table, without input or output.
///
/// | The existing file                                        | plain     | `-c`      | `-N`          | `--overwrite` |
/// |-----------------------------------------------------------|-----------|-----------|---------------|-----------|
/// | nothing                                                  | fetch     | fetch     | fetch         | fetch     |
/// | an empty file that no record proves complete             | fetch     | fetch     | fetch         | replace   |
/// | a file whose record proves that it is what was asked for | done      | done      | ask           | replace   |
/// | one that another program made                            | refuse    | compare   | compare, replace | replace |
/// | one that was joined by comparing, or that may be incomplete, as its record says | refuse | compare | compare, replace | replace |
/// | one that was changed here                                | refuse    | compare   | replace       | replace   |
/// | one that another address or user made, whose server was verified in another way, that belongs to another user, or that others may write | refuse | refuse | replace | replace |
///
/// With checksums the file is read first, unless it is to be replaced: one that has them is done, with `-N`
/// the server is asked if a record names its tag. One that has not is compared, with or without `-c`, and
/// continued if it is the beginning, for the checksum decides in the end; else it is refused. With `-N` it is
/// replaced.
enum FileStep: Hashable, Sendable {
    /// Fetch it.
    case fetch(replacing: FileReplacement)
    /// Fetch it if the server has another one.
    case ask
    /// Read the file, compare its checksums, and decide again.
    case verify
    /// Compare its last bytes with those of the server.
    case compare
    /// Leave it as it is: it is what was asked for. The checksum that proves it; `nil`: its record does.
    case leave(FileDigest?)
    /// Leave it as it is, and fail.
    case refuse(Failure)

    /// The result of comparing the checksums of the file.
    enum Verification: Hashable, Sendable {
        /// None are expected.
        case unneeded
        case pending
        case right(FileDigest?)
        case wrong(Failure)

        /// The failure of a file that has another checksum.
        var failure: Failure? { if case .wrong(let failure) = self { failure } else { nil } }
    }

    /// - Parameters:
    ///   - standing: what the file proves of itself.
    ///   - path: of the file.
    ///   - isEmpty: whether it has no bytes.
    ///   - verification: of its checksums.
    ///   - settings: what the options say.
    init(
        _ standing: FileStanding,
        _ path: FilePath,
        isEmpty: Bool,
        _ verification: Verification,
        _ settings: Settings
    ) {
        if settings.replacesFiles {
            self = .fetch(replacing: .anyFile)
        } else if standing == .nothing {
            self = .fetch(replacing: .nothing)
        } else if isEmpty, standing != .complete {
            self = .fetch(replacing: .emptyFile)
        } else if settings.fetchesOnlyChanges {
            self.init(forChangesOf: standing, verification)
        } else {
            self.init(forNew: standing, path, verification, continues: settings.continuesFiles)
        }
    }

    private init(forChangesOf standing: FileStanding, _ verification: Verification) {
        switch (standing, verification) {
        // The library reads it once more, before it asks.
        case (.complete, .unneeded), (.complete, .pending), (.complete, .right): self = .ask
        case (_, .pending): self = .verify
        case (_, .right(let digest)): self = .leave(digest)
        case (_, .wrong): self = .fetch(replacing: .anyFile)
        case (.unrecorded, .unneeded), (.unrecordable, .unneeded), (.joined, .unneeded),
            (.perhapsIncomplete, .unneeded):
            self = .compare
        case (_, .unneeded): self = .fetch(replacing: .anyFile)
        }
    }

    private init(
        forNew standing: FileStanding,
        _ path: FilePath,
        _ verification: Verification,
        continues: Bool
    ) {
        let isContinuable = continues && standing.mayBeBeginning
        switch verification {
        case .pending: self = .verify
        case .right(let digest): self = .leave(digest)
        // Any beginning will do: the checksum of the whole decides.
        case .wrong(let failure): self = standing.mayBeBeginning ? .compare : .refuse(failure)
        case .unneeded:
            if standing == .complete {
                self = .leave(nil)
            } else {
                self = isContinuable ? .compare : .refuse(Failure(standing, path))
            }
        }
    }
}

extension FileStanding {
    /// Whether it may be the beginning of what was asked for, or all of it: its last bytes will tell more.
    fileprivate var mayBeBeginning: Bool {
        switch self {
        case .unrecorded, .unrecordable, .changed, .joined, .perhapsIncomplete: true
        case .nothing, .complete, .ofOtherRequest, .foreign, .writableByOthers: false
        }
    }
}

extension Failure {
    /// A file that is there, and that nothing proves to be what was asked for.
    init(_ standing: FileStanding, _ path: FilePath) {
        let (reason, remedy) =
            switch standing {
            case .joined:
                (
                    "opget joined it from parts by comparing, and nothing proves that it is right",
                    "--checksum, --overwrite, -c or -N"
                )
            case .perhapsIncomplete:
                (
                    "it may be incomplete, for the server did not say where it ends",
                    "--checksum, --overwrite, -c or -N"
                )
            case .changed: ("was changed since opget saved it", "--overwrite, -c or -N")
            case .ofOtherRequest:
                (
                    "opget saved it from another address, with other fields, as another user, or with other options "
                        + "for the server's certificate",
                    "--overwrite or -N"
                )
            case .unrecordable:
                ("the file system cannot keep who made it", "--overwrite, -c, -N or --checksum")
            case .foreign: ("belongs to another user", "--overwrite or -N")
            case .writableByOthers: ("others may write it", "--overwrite or -N")
            case .unrecorded, .complete, .nothing: ("not made by opget", "--overwrite, -c or -N")
            }
        self.init(
            .exists,
            "\(path.text) exists, and nothing was written: \(reason); use \(remedy)."
        )
    }

    /// A link to a file: what it leads to has a name of its own.
    init(link path: FilePath) {
        self.init(
            .exists,
            "\(path.text) is a link, and nothing was written: give -o the name of the file that it leads to."
        )
    }

    /// The failure of a device with a checksum.
    init(uncheckable path: FilePath) {
        self.init(.usage, "\(path.text) is no file: its checksum cannot be checked.")
    }

    /// The failure of a file that `-c` cannot go on with, because of `reason`.
    init(uncontinuable path: FilePath, because reason: String) {
        self.init(
            .exists,
            "\(path.text) exists, and nothing was written: \(reason); use --overwrite or -N."
        )
    }
}
