/// The outcome of opget for its caller: wget's failure classes up to 8, three additional ones, and `128 + n`
/// after signal `n`.
///
/// | Status          | Code    |
/// |-----------------|---------|
/// | `success`       | 0       |
/// | `other`         | 1       |
/// | `usage`         | 2       |
/// | `file`          | 3       |
/// | `network`       | 4       |
/// | `tls`           | 5       |
/// | `authorization` | 6       |
/// | `wrongAnswer`   | 7       |
/// | `server`        | 8       |
/// | `checksum`      | 9       |
/// | `diskFull`      | 10      |
/// | `exists`        | 11      |
/// | `signal(n)`     | 128 + n |
enum Outcome: Hashable, Sendable {
    case success, other, usage, file, network, tls, authorization, wrongAnswer, server, checksum, diskFull
    /// A file of that name exists that is not proven to be the requested one.
    case exists
    case signal(Int32)

    /// The code of a program that SIGPIPE kills. opget ignores the signal and cleans up first.
    static let closedOutput = Outcome.signal(13)

    /// The exit code.
    var code: Int32 {
        switch self {
        case .success: 0
        case .other: 1
        case .usage: 2
        case .file: 3
        case .network: 4
        case .tls: 5
        case .authorization: 6
        case .wrongAnswer: 7
        case .server: 8
        case .checksum: 9
        case .diskFull: 10
        case .exists: 11
        case .signal(let number): 128 + number
        }
    }

    /// The outcome's name in events.
    var name: String {
        switch self {
        case .success: "success"
        case .other: "other"
        case .usage: "usage"
        case .file: "file"
        case .network: "network"
        case .tls: "tls"
        case .authorization: "authorization"
        case .wrongAnswer: "wrongAnswer"
        case .server: "server"
        case .checksum: "checksum"
        case .diskFull: "diskFull"
        case .exists: "exists"
        case .signal: "signal"
        }
    }

    /// Returns the outcome to report if both occurred: first a signal, then a local failure, then a wrong
    /// file, then the lower code as in wget, where 1 is the last of the failures.
    func combined(with other: Outcome) -> Outcome {
        rank <= other.rank ? self : other
    }

    private var rank: Int32 {
        switch self {
        case .signal: 0
        case .usage: 1
        case .diskFull: 2
        case .file: 3
        case .exists: 4
        case .checksum: 5
        case .network: 6
        case .tls: 7
        case .authorization: 8
        case .wrongAnswer: 9
        case .server: 10
        case .other: 11
        case .success: 12
        }
    }

    /// The codes and their meanings in `--help`, in order of precedence except for the first.
    static let table: [(code: String, meaning: String)] = [
        ("0", "every file is complete and matches its checksum"),
        ("128+n", "stopped by signal n: 130 (Ctrl-C or q), 143 (SIGTERM), 129 (SIGHUP); partial files"),
        ("", "are kept, and the same command resumes; 141: the reader of standard output or events"),
        ("", "closed it"),
        ("2", "the command line or a list is invalid; nothing was fetched"),
        ("10", "the disk or a quota is full, or a file exceeds a size limit; partial files are kept"),
        ("3", "a file could not be read, created or written, or another program is fetching it"),
        ("11", "a file with that name exists, or appeared meanwhile, and nothing proves that it is the"),
        ("", "requested one; it is left unchanged: see --overwrite, --checksum and -N"),
        ("9", "a file does not match its checksum; the fetched bytes are discarded,"),
        ("", "an existing file is kept"),
        ("4", "the network: no host, no connection, a lost connection, or a timeout; partial files are"),
        ("", "kept"),
        ("5", "TLS: the server's certificate is not trusted, or no secure connection could be made"),
        ("6", "the server requires authorization (401, 407)"),
        ("7", "the server's response violates HTTP"),
        ("8", "the server answered with another error (404, 500, ...)"),
        ("1", "anything else"),
    ]
}
