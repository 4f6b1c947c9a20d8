import COperationNetworking

/// The options that stay set in a handle after a plain request, as most are.
///
/// Transfers with equal persistent options differ only in options that are set each time: the URL, the fields,
/// the cookies, the connect timeout, and the judge.
struct PersistentOptions {
    private let version: TransferOptions.HTTPVersion
    private let knowsCookies: Bool
    private let security: Security?

    /// - Returns: `nil` if other options would stay: bodies and other methods, credentials and proxies,
    ///   certificates in memory, a connection of its own.
    init?(_ options: TransferOptions) {
        guard Self.arePlain(options) else { return nil }
        security = options.tls.map(Security.init)
        version = options.version
        knowsCookies = options.cookieLines != nil
    }

    /// Whether a handle with these options can be used for a transfer with `options`.
    func serve(_ options: TransferOptions) -> Bool {
        guard Self.arePlain(options), version == options.version else { return false }
        guard knowsCookies == (options.cookieLines != nil) else { return false }
        guard let tls = options.tls else { return security == nil }
        return security.map { $0.isSame(as: tls) } ?? false
    }

    private static func arePlain(_ options: TransferOptions) -> Bool {
        guard options.method == "GET", options.body == .none else { return false }
        guard options.authentication == nil, options.proxy == nil, !options.opensConnection else {
            return false
        }
        guard let tls = options.tls else { return true }
        if case .certificates = tls.authorities { return false }
        return tls.identity == nil
    }

    /// By reference, because the options are copied at each access.
    private final class Security: Sendable {
        let authorities: TLSOptions.Authorities
        let versions: ClosedRange<Int>
        let checksHost: Bool
        let resumesSessions: Bool
        let isJudged: Bool

        init(_ options: TLSOptions) {
            authorities = options.authorities
            versions = options.versions
            checksHost = options.checksHost
            resumesSessions = options.resumesSessions
            isJudged = options.judge != nil
        }

        func isSame(as options: TLSOptions) -> Bool {
            authorities == options.authorities && versions == options.versions
                && checksHost == options.checksHost && resumesSessions == options.resumesSessions
                && isJudged == (options.judge != nil)
        }
    }
}

/// The properties of a transfer that determine what state libcurl keeps in the handle.
///
/// `curl_easy_reset` does not reset everything, and previous transfers must not affect the next one. So a
/// handle is reused only after a successful transfer that cannot have left any state. According to the
/// sources of libcurl 7.88, 8.5 and 8.14, a handle keeps, beyond its options:
///
/// | State                              | Excluded because                                 |
/// |------------------------------------|--------------------------------------------------|
/// | retries, TLS and resolver state    | there was a connection, and one request was sent |
/// | the system's last error            | there is none                                    |
/// | schemes and nonces of challenges   | the status                                       |
/// | pause state                        | it was never paused                              |
/// | the stream and its bytes           | HTTP/1.1, without streams                        |
/// | the host of the caller's `Host` field, which selects cookies | there was no such field                          |
/// | cookies                            | none were received                               |
/// | progress reporting                 | it was not enabled                               |
/// | whether its connection may be kept | it may                                           |
///
/// Before 8.1, it also keeps a pointer to its last field, which it has freed: see ``EasyHandle/FoldWatch``.
struct HandleTrace {
    /// Whether this is the handle's first transfer.
    var isFirst = true
    /// Whether there was a socket or a connection.
    var hasMoved = false
    /// libcurl may repeat a request by itself.
    var requestCount = 0
    var namesHost = false
    var wasHeld = false
    var reportsProgress = false
    /// Whether libcurl writes a log, for ``EasyHandle/watchForExcess()``.
    var watchesForExcess = false
    /// Whether there were excess bytes, so that the connection is not kept.
    var hasExcess = false
    var receivedCookies = 0
    /// The last socket that libcurl watched for the transfer, which may now belong to another one.
    var watchedSocket: Int32 = -1
    /// The sockets that were opened since the last change of connection, some of which may be closed.
    var openedSockets: [Int32] = []
    /// Whether the connection is reused.
    var isConnectionKept = false
    /// Whether a TLS handshake has begun on the last opened socket.
    var hasBegunTLS = false

    /// Whether libcurl's times and connection count already refer to this transfer.
    var hasBegun: Bool { isFirst || hasMoved }

    /// - Parameters:
    ///   - connectionCount: the number of opened connections.
    ///   - systemError: an `errno`, possibly of another connection that was closed.
    ///   - status: the status of the response.
    ///   - isHTTP1: whether the response's version is HTTP/1.1.
    /// - Returns: whether the handle may be reused.
    func leavesNothing(connectionCount: Int, systemError: Int, status: Int, isHTTP1: Bool) -> Bool {
        requestCount == 1 && connectionCount == 0 && systemError == 0 && (200..<400).contains(status)
            && isHTTP1
            && !namesHost && !wasHeld && !reportsProgress && !hasExcess && receivedCookies == 0
    }
}

extension EasyHandle {
    /// Which line of a head must not be a folded one, in a reused handle of libcurl before 8.1.0.
    ///
    /// Such a libcurl appends a folded line to the last field of the previous transfer, which it has freed, if
    /// no field came before it. With a new handle it fails instead, and so does a reused one because of this.
    /// While CURLOPT_HEADER(3) is set, libcurl passes each line of a head to the callback for the body, then
    /// stores the field, and then calls the callback for the head. A status line is not stored.
    ///
    /// | State        | Line, and the callback that receives it | Next state                        |
    /// |--------------|-----------------------------------------|-----------------------------------|
    /// | `statusLine` | a status line, head                     | `firstLine`; sets the option      |
    /// | `firstLine`  | a folded line, body                     | none: the transfer ends           |
    /// | `firstLine`  | another line, or its start, body        | `passedLine`; clears the option   |
    /// | `passedLine` | the rest of a long line, body           | `passedLine`                      |
    /// | `passedLine` | the same line, head: the end of a head  | `statusLine`                      |
    /// | `passedLine` | the same line, head: a field            | `off`                             |
    enum FoldWatch {
        case off, statusLine, firstLine, passedLine
    }

    /// Called with each line of a head that the delegate has accepted.
    func watchFolding(after line: UnsafeBufferPointer<UInt8>) {
        switch foldWatch {
        case .statusLine:
            // Or a trailer of HTTP/2 after a head without fields: nothing follows it.
            foldWatch = .firstLine
            clibcurl_easy_setopt_long(raw, CURLOPT_HEADER, 1)
        case .passedLine:
            let isEmpty = line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n")
            foldWatch = isEmpty ? .statusLine : .off
        case .off, .firstLine:
            break
        }
    }

    /// Whether libcurl may store the line that begins with these bytes. If not, the delegate gives the reason.
    func mayStoreFirstLine(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        foldWatch = .passedLine
        clibcurl_easy_setopt_long(raw, CURLOPT_HEADER, 0)
        guard line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") else { return true }
        _ = delegate?.easyHandleDidReceiveHeaderLine(line.span)
        return false
    }
}
