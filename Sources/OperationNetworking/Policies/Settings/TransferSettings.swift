public import Foundation

/// The settings of transfers, which a manager, its operations and a session have in common. Each is also a
/// property of the manager, operation or session itself: `manager.retryPolicy = RetryPolicy()` sets
/// ``retryPolicy``, by ``TransferConfigurable``.
///
/// Stored properties: 20. Each is a setting that a caller chooses by itself.
public struct TransferSettings: Sendable {
    // MARK: - Trust

    /// The pins and checks of servers, beyond their certificates' authorities. A refusal is a
    /// ``ServerTrustError``.
    public var securityPolicy = SecurityPolicy.default

    /// The trusted authorities; the system's authorities unless something else is set.
    public var trustAnchors = TrustAnchors.system

    /// The client certificate for servers that ask for one; `nil`: none. It is for the origin of the request,
    /// and not shown to another one after a redirect.
    public var clientIdentity: ClientIdentity?

    /// The versions of TLS that may be spoken; 1.2 and 1.3 unless something else is set.
    public var tlsVersions = TLSVersion.defaultRange

    // MARK: - Credentials

    /// The credential for a server that answers 401, sent once; refused, the 401 is the response. `nil`
    /// unless set.
    ///
    /// It goes to the origin (scheme, host, port) of the request and to no other, also after redirects. A
    /// manager gives it to requests to the origin of its base URL; without a base URL, to all. What a server
    /// took is remembered: the next requests with it to the same place send it at once. `user:password@` in
    /// the request's URL is the same, and comes first; `user@` alone gets this credential's password if its
    /// user has that name.
    public var credential: Credential?

    /// Whether `URLCredentialStorage.shared` is asked, by the protection space, when ``credential`` is not
    /// there, belongs to another origin, or was refused. True unless set.
    public var shouldUseCredentialStorage = true

    /// The schemes by which credentials are sent; all that are supported unless set. Basic sends the password
    /// in the clear, unless TLS hides it.
    public var authenticationSchemes = AuthenticationScheme.supported

    /// The source of the bearer token that requests carry; `nil` unless set. Its scope is that of
    /// ``credential``.
    ///
    /// The token identifies the user. After it is renewed, cached responses are requested again, and a download
    /// resumes only if the server sends a strong `ETag` and the last 64 KiB are the same.
    public var tokenSource: TokenSource?

    /// Change each request before it is sent, in order; none unless set. See ``RequestAdapter``. A manager
    /// gives them to requests in its `secretHeaderScope`: to the origin of its base URL unless that is set.
    public var requestAdapters: [any RequestAdapter] = []

    // MARK: - Policies

    /// Whether, and when, a request that failed is sent again. `nil`, as it is unless set: only one that may
    /// be repeated, when its reused connection turns out to be closed. A ``DownloadOperation`` has a policy
    /// of five retries.
    ///
    /// An operation goes on running while it waits. Its place in the queue is given to requests to other
    /// servers meanwhile, and it goes on when there is one again: see ``TransferQueue``. `cancel()` ends the
    /// wait, and after a pause there is none. What came of a body is kept by the rules of resuming.
    public var retryPolicy: RetryPolicy?

    /// The redirects that are followed, and the fields that go along; ``RedirectPolicy/follow`` unless set.
    /// The closure of `setRedirect(_:)` has the last word.
    public var redirectPolicy = RedirectPolicy.follow

    /// The proxy of requests; the environment's unless set. What does not get through ends with a
    /// ``ProxyError``. A `Proxy-Authorization` field of a request goes to an HTTP proxy, and never to a
    /// server.
    public var proxyConfiguration = ProxyConfiguration.environment

    /// The cookie storage; ``CookieJar/shared`` unless something else is set, `nil`: none are sent and none
    /// are kept, as for a request whose `httpShouldHandleCookies` is false, or that has a `Cookie` field of
    /// its own. A jar of its own keeps a manager's cookies apart from the others'.
    ///
    /// An operation ends when those that it brought are in the jar: operations that depend on it send them.
    public var cookieJar: CookieJar? = .shared

    // MARK: - Limits

    /// The time limit, in seconds, of finding the server, connecting to it and TLS together; a transfer that
    /// needs longer fails with `URLError.timedOut`. `nil`, as it is unless set: no limit but the request's
    /// `timeoutInterval`.
    public var connectTimeout: TimeInterval?

    /// The time limit, in seconds, of a whole operation: from its start to the end of the last response's
    /// body, with redirects, retries, the waits between them, and the wait for a connection. Pauses are not
    /// counted, nor what comes after the last byte. One that needs longer fails with `URLError.timedOut`, is
    /// not tried again, and keeps what came as after any failure. `nil`, as it is unless set, or infinity: no
    /// limit but the request's `timeoutInterval`, which one byte now and then is enough for.
    public var totalTimeout: TimeInterval?

    /// The limits of sending requests' bodies; all of them hold. The operations of a manager share the
    /// manager's, and each may have more of its own. A limit itself can be changed at any time.
    public var uploadLimits: [BandwidthLimit] = []

    /// The limits of receiving responses' bodies, as with ``uploadLimits``. Such a transfer goes over
    /// HTTP/1.1.
    public var downloadLimits: [BandwidthLimit] = []

    // MARK: - For the library

    var connectionLimit = ConnectionLimit.process
    /// The limit that a batch asks for besides.
    var raisedConnectionLimit = 0
    var layers = TransferLayers()

    /// The settings of an operation that nothing was set on.
    public init() {}

    /// The same, with connections that are counted elsewhere.
    init(connectionLimit: ConnectionLimit) {
        self.connectionLimit = connectionLimit
    }
}

extension ServerVerification {
    /// The verification of the servers of a URL by these settings.
    init(of url: URL?, _ settings: TransferSettings) {
        self.init(
            of: url,
            by: settings.securityPolicy,
            trusting: settings.trustAnchors,
            allowsDowngrade: settings.redirectPolicy.allowsDowngrade
        )
    }
}
