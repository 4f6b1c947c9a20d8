import OperationNetworking

/// What to do with an item whose file may exist: a table, without input or output.
///
/// | The existing file                                        | plain     | `-c`      | `-N`          | `--overwrite` |
/// |-----------------------------------------------------------|-----------|-----------|---------------|-----------|
/// | nothing                                                  | fetch     | fetch     | fetch         | fetch     |
/// | an empty file without a record that it is complete       | fetch     | fetch     | fetch         | replace   |
/// | a file whose record proves that it is the requested one  | done      | done      | ask           | replace   |
/// | any other                                                | refuse    | refuse    | replace       | replace   |
///
/// If checksums are given, the file is read first, unless it is going to be replaced. If they match, it is
/// done; with `-N`, the server is asked if the record has an ETag. If they do not match, it is refused, or
/// replaced with `-N`. With `-c` it is continued if another program may have begun it, because the checksum
/// decides in the end.
enum FileStep: Hashable, Sendable {
    /// Fetch the file.
    case fetch(replaces: Bool)
    /// Fetch the file if the server has another version.
    case ask
    /// Read the file, compare its checksums, and decide again.
    case verify
    /// Continue after its last byte.
    case resume
    /// Leave the file unchanged: it is the requested one. The checksum proves that; with `nil`, its record
    /// does.
    case leave(FileDigest?)
    /// Leave the file unchanged, and fail.
    case refuse(Failure)

    /// The result of comparing the checksums of the file.
    enum Verification: Hashable, Sendable {
        /// No checksums are expected.
        case unneeded
        case pending
        case right(FileDigest?)
        case wrong(Failure)

        /// The failure of a file with another checksum.
        var failure: Failure? { if case .wrong(let failure) = self { failure } else { nil } }
    }

    /// - Parameters:
    ///   - verdict: what is known about the file.
    ///   - path: the path of the file.
    ///   - isEmpty: whether it has no bytes.
    ///   - verification: the result of comparing its checksums.
    ///   - settings: the options.
    init(
        _ verdict: FileVerdict,
        _ path: FilePath,
        isEmpty: Bool,
        _ verification: Verification,
        _ settings: Settings
    ) {
        if settings.replacesFiles {
            self = .fetch(replaces: true)
        } else if verdict == .nothing {
            self = .fetch(replaces: false)
        } else if isEmpty, verdict != .complete {
            self = .fetch(replaces: true)
        } else if settings.fetchesOnlyChanges {
            self.init(forChangesOf: verdict, verification)
        } else {
            let continues = settings.continuesFiles && !settings.asksForRange
            self.init(forNew: verdict, path, verification, continues: continues)
        }
    }

    private init(forChangesOf verdict: FileVerdict, _ verification: Verification) {
        switch (verdict, verification) {
        // The library reads the file again before it asks the server.
        case (.complete, .unneeded), (.complete, .pending), (.complete, .right): self = .ask
        case (_, .pending): self = .verify
        case (_, .right(let digest)): self = .leave(digest)
        case (_, .wrong): self = .fetch(replaces: true)
        case (_, .unneeded): self = .fetch(replaces: true)
        }
    }

    private init(
        forNew verdict: FileVerdict,
        _ path: FilePath,
        _ verification: Verification,
        continues: Bool
    ) {
        switch verification {
        case .pending: self = .verify
        case .right(let digest): self = .leave(digest)
        // Any beginning is accepted, because the checksum of the whole decides.
        case .wrong(let failure): self = continues && verdict.mayBeBeginning ? .resume : .refuse(failure)
        case .unneeded where verdict == .complete: self = .leave(nil)
        case .unneeded: self = .refuse(Failure(verdict, path, continues: continues))
        }
    }
}

extension FileVerdict {
    /// Whether the file may be the beginning or the whole of the requested one.
    fileprivate var mayBeBeginning: Bool {
        switch self {
        case .unrecorded, .changed, .joined, .perhapsIncomplete: true
        case .nothing, .complete, .ofOtherRequest, .foreign, .writableByOthers: false
        }
    }
}

extension Failure {
    /// The failure for an existing file that is not proven to be the requested one. `continues` tells whether
    /// it would have to be continued, which needs a checksum.
    init(_ verdict: FileVerdict, _ path: FilePath, continues: Bool = false) {
        if continues, verdict.mayBeBeginning {
            self.init(
                .exists,
                "\(path.text) exists, and was left unchanged: nothing shows that it is the beginning of this download, "
                    + "so -c resumes it only with --checksum; --overwrite or -N replaces it."
            )
            return
        }
        let (reason, remedy) =
            switch verdict {
            case .joined:
                (
                    "opget joined it from parts by comparing bytes, which does not prove that it is correct",
                    "--checksum, --overwrite or -N"
                )
            case .perhapsIncomplete:
                (
                    "it may be incomplete, because the server did not announce its end",
                    "--checksum, --overwrite or -N"
                )
            case .changed: ("it was changed after opget saved it", "--checksum, --overwrite or -N")
            case .ofOtherRequest:
                (
                    "opget saved it from another URL, with other fields, as another user, or with other "
                        + "certificate options",
                    "--overwrite or -N"
                )
            case .foreign: ("it belongs to another user", "--overwrite or -N")
            case .writableByOthers: ("other users may write to it", "--overwrite or -N")
            case .unrecorded, .complete, .nothing:
                ("nothing shows that opget saved it", "--checksum, --overwrite or -N")
            }
        self.init(
            .exists,
            "\(path.text) exists, and nothing was written: \(reason); use \(remedy)."
        )
    }

    /// The failure for a link, whose target has another name.
    init(link path: FilePath) {
        self.init(
            .exists,
            "\(path.text) is a link, and nothing was written: use -o with the file that it points to."
        )
    }

    /// The failure for a device with a checksum.
    init(uncheckable path: FilePath) {
        self.init(.usage, "\(path.text) is not a file, so its checksum cannot be checked.")
    }
}
