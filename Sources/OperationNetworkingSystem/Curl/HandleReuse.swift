/// The options of a transfer that stay set in its handle, where these are all that stay: a plain request, as
/// most are.
///
/// Two transfers with equal ones differ only in what is set anew each time: the URL, the fields, the cookies,
/// the time to connect, and the judge.
struct StandingOptions {
    private let version: TransferOptions.HTTPVersion
    private let knowsCookies: Bool
    private let security: Security?

    /// - Returns: `nil` if more than that would stay: bodies and other methods, credentials and proxies,
    ///   certificates that are bytes, a connection of its own.
    init?(_ options: TransferOptions) {
        guard Self.arePlain(options) else { return nil }
        security = options.tls.map(Security.init)
        version = options.version
        knowsCookies = options.cookieLines != nil
    }

    /// Whether a handle in which these stay is good for a transfer with those.
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

    /// By reference, since the options are copied whenever they are asked.
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

/// A transfer, as far as it shows what libcurl keeps of it in the handle.
///
/// `curl_easy_reset` forgets not everything, and what a handle did before must not decide about the next
/// request. So a handle does another transfer only after one that has succeeded and can have left nothing. By
/// the sources of libcurl 8.5 and 8.14, a handle keeps, beyond its options:
///
/// | It keeps                                                              | Kept out by               |
/// |-----------------------------------------------------------------------|---------------------------|
/// | tries, remains of TLS and of the resolver                             | a connection was there, and one request went out |
/// | the system's last error                                               | there is none             |
/// | schemes and nonces of challenges                                      | the status                |
/// | remains of a pause                                                    | it was never held         |
/// | the stream and its bytes                                              | HTTP/1.1, without streams |
/// | the host that the caller's `Host` named, whose cookies it sends and takes | there was no such field |
/// | cookies                                                               | none came                 |
/// | whether to report progress                                            | it did not                |
/// | whether its connection may be kept                                    | it may                    |
struct HandleTrace {
    /// Whether the handle has done no other transfer before.
    var isFirst = true
    /// Whether there was a socket for it, or a connection.
    var hasMoved = false
    /// libcurl may send a request again by itself.
    var requestCount = 0
    var namesHost = false
    var wasHeld = false
    var reportsProgress = false
    /// Whether libcurl writes a log, for ``EasyHandle/watchForExcess()``.
    var watchesForExcess = false
    /// Whether there was more than the response, and the connection is not kept.
    var hasExcess = false
    var receivedCookies = 0
    /// The socket that libcurl last wanted watched for it; it may belong to another transfer by now.
    var watchedSocket: Int32 = -1
    /// The sockets that were opened since it last had another connection; some may be closed by now.
    var openedSockets: [Int32] = []
    /// Whether its connection was used before.
    var isConnectionKept = false
    /// Whether a TLS handshake has begun over the socket that was opened last.
    var hasBegunTLS = false

    /// Whether what libcurl says of times and connections is about this transfer.
    var hasBegun: Bool { isFirst || hasMoved }

    /// - Parameters:
    ///   - connectionCount: how many were opened.
    ///   - systemError: an `errno`, perhaps of a connection to another server that was closed meanwhile.
    ///   - status: of the response.
    ///   - isHTTP1: the response's version is HTTP/1.1.
    /// - Returns: whether the handle may do another transfer.
    func leavesNothing(connectionCount: Int, systemError: Int, status: Int, isHTTP1: Bool) -> Bool {
        requestCount == 1 && connectionCount == 0 && systemError == 0 && (200..<400).contains(status)
            && isHTTP1
            && !namesHost && !wasHeld && !reportsProgress && !hasExcess && receivedCookies == 0
    }
}
