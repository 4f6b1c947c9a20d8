/// How opget ended, for whoever started it: wget's classes of failure, and `128 + n` after signal `n`.
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
/// | `signal(n)`     | 128 + n |
enum Outcome: Hashable, Sendable {
    case success, other, usage, file, network, tls, authorization, wrongAnswer, server
    case signal(Int32)

    /// SIGPIPE: what every program that is killed by it ends with. opget ignores the signal and cleans up first.
    static let closedOutput = Outcome.signal(13)

    /// What `exit` is given.
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
        case .signal(let number): 128 + number
        }
    }

    /// What events call it.
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
        case .signal: "signal"
        }
    }

    /// The one of two that is told when both happened: a signal before everything else, then the lower code, as in
    /// wget, where 1 comes last of the failures.
    func combined(with other: Outcome) -> Outcome {
        rank <= other.rank ? self : other
    }

    private var rank: Int32 {
        switch self {
        case .signal: -1
        case .usage, .file, .network, .tls, .authorization, .wrongAnswer, .server: code
        case .other: 100
        case .success: 101
        }
    }

    /// What `--help` says, code by code, in the order of precedence but for the first.
    static let table: [(code: String, meaning: String)] = [
        ("0", "every file is there"),
        (
            "128+n",
            "stopped by signal n, after cleaning up: 130 by Ctrl-C or q, 143 by SIGTERM, 129 by SIGHUP;"
        ),
        ("", "141 when standard output, or what reads the events, was closed early"),
        ("2", "the command line or the list is wrong; nothing was fetched"),
        ("3", "a file could not be read, made or written"),
        ("4", "the network: no such host, no connection, a connection lost, a timeout"),
        ("5", "TLS: the server's certificate is not trusted, or no secure connection came about"),
        ("6", "the server asks for authorization (401, 407)"),
        ("7", "the server's answer breaks the rules of HTTP"),
        ("8", "the server answered with another error (404, 500, ...)"),
        ("1", "anything else"),
    ]
}
