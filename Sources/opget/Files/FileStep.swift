import OperationNetworking

/// The treatment of an item whose file may exist: a table, without input or output.
///
/// | The existing file                                        | plain     | `-c`      | `-N`          | `--overwrite` |
/// |-----------------------------------------------------------|-----------|-----------|---------------|-----------|
/// | nothing                                                  | fetch     | fetch     | fetch         | fetch     |
/// | an empty file that no record proves complete             | fetch     | fetch     | fetch         | replace   |
/// | a file whose record proves that it is what was asked for | done      | done      | ask           | replace   |
/// | any other                                                | refuse    | refuse    | replace       | replace   |
///
/// With checksums the file is read first, unless it is to be replaced: one that has them is done, with `-N`
/// the server is asked if a record names its tag. One that has not is refused, and with `-N` replaced. With `-c`
/// it is continued if another program may have begun it, for the checksum decides in the end.
enum FileStep: Hashable, Sendable {
    /// Fetch it.
    case fetch(replaces: Bool)
    /// Fetch it if the server has another one.
    case ask
    /// Read the file, compare its checksums, and decide again.
    case verify
    /// Go on behind its last byte.
    case goOn
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
            self = .fetch(replaces: true)
        } else if standing == .nothing {
            self = .fetch(replaces: false)
        } else if isEmpty, standing != .complete {
            self = .fetch(replaces: true)
        } else if settings.fetchesOnlyChanges {
            self.init(forChangesOf: standing, verification)
        } else {
            let continues = settings.continuesFiles && !settings.asksForRange
            self.init(forNew: standing, path, verification, continues: continues)
        }
    }

    private init(forChangesOf standing: FileStanding, _ verification: Verification) {
        switch (standing, verification) {
        // The library reads it once more, before it asks.
        case (.complete, .unneeded), (.complete, .pending), (.complete, .right): self = .ask
        case (_, .pending): self = .verify
        case (_, .right(let digest)): self = .leave(digest)
        case (_, .wrong): self = .fetch(replaces: true)
        case (_, .unneeded): self = .fetch(replaces: true)
        }
    }

    private init(
        forNew standing: FileStanding,
        _ path: FilePath,
        _ verification: Verification,
        continues: Bool
    ) {
        switch verification {
        case .pending: self = .verify
        case .right(let digest): self = .leave(digest)
        // Any beginning will do: the checksum of the whole decides.
        case .wrong(let failure): self = continues && standing.mayBeBeginning ? .goOn : .refuse(failure)
        case .unneeded where standing == .complete: self = .leave(nil)
        case .unneeded: self = .refuse(Failure(standing, path, continues: continues))
        }
    }
}

extension FileStanding {
    /// Whether it may be the beginning of what was asked for, or all of it.
    fileprivate var mayBeBeginning: Bool {
        switch self {
        case .unrecorded, .unrecordable, .changed, .joined, .perhapsIncomplete: true
        case .nothing, .complete, .ofOtherRequest, .foreign, .writableByOthers: false
        }
    }
}

extension Failure {
    /// A file that is there, and that nothing proves to be what was asked for. `continues`: whether it was to be
    /// continued, as only a checksum allows.
    init(_ standing: FileStanding, _ path: FilePath, continues: Bool = false) {
        if continues, standing.mayBeBeginning {
            self.init(
                .exists,
                "\(path.text) exists, and nothing was written: -c goes on with a file that nothing proves to be a "
                    + "beginning only if its checksum is given; use --checksum, --overwrite or -N."
            )
            return
        }
        let (reason, remedy) =
            switch standing {
            case .joined:
                (
                    "opget joined it from parts by comparing, and nothing proves that it is right",
                    "--checksum, --overwrite or -N"
                )
            case .perhapsIncomplete:
                (
                    "it may be incomplete, for the server did not say where it ends",
                    "--checksum, --overwrite or -N"
                )
            case .changed: ("was changed since opget saved it", "--checksum, --overwrite or -N")
            case .ofOtherRequest:
                (
                    "opget saved it from another address, with other fields, as another user, or with other options "
                        + "for the server's certificate",
                    "--overwrite or -N"
                )
            case .unrecordable:
                ("the file system cannot keep who made it", "--checksum, --overwrite or -N")
            case .foreign: ("belongs to another user", "--overwrite or -N")
            case .writableByOthers: ("others may write it", "--overwrite or -N")
            case .unrecorded, .complete, .nothing: ("not made by opget", "--checksum, --overwrite or -N")
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
}
