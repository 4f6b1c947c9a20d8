/// The settings that a manager, an operation and a session have in common.
///
/// ```swift
/// manager.retryPolicy = RetryPolicy()
/// operation.timeouts.connect = 5
/// ```
///
/// A manager and a session use them for the operations that they make from then on. Those of an operation are
/// set before it is in a queue, or is started: later it traps. They may be read and set on any thread.
public protocol TransferConfigurable: AnyObject, Sendable {
    /// Reads the settings, under the owner's lock. Use the properties instead, unless several have to belong
    /// together.
    func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value
    /// Changes the settings, under the owner's lock. Use the properties instead, unless several have to change
    /// together.
    /// - Parameters:
    ///   - setting: the name that the trap of a change that comes too late says.
    ///   - body: the change.
    func changeTransferSettings(named setting: StaticString, _ body: (inout TransferSettings) -> Void)
}

extension TransferConfigurable {
    /// Changes several settings, under the owner's lock.
    public func changeTransferSettings(_ body: (inout TransferSettings) -> Void) {
        changeTransferSettings(named: "transferSettings", body)
    }

    // MARK: - Trust

    /// The pins and checks of servers, beyond their certificates' authorities. A refusal is a
    /// ``ServerTrustError``.
    public var securityPolicy: SecurityPolicy {
        get { readTransferSettings { $0.securityPolicy } }
        set { changeTransferSettings(named: #function) { $0.securityPolicy = newValue } }
    }

    /// The trusted authorities; the system's authorities unless something else is set.
    public var trustAnchors: TrustAnchors {
        get { readTransferSettings { $0.trustAnchors } }
        set { changeTransferSettings(named: #function) { $0.trustAnchors = newValue } }
    }

    /// The client certificate for servers that ask for one; `nil`: none. It is for the origin of the request,
    /// and not shown to another one after a redirect.
    public var clientIdentity: ClientIdentity? {
        get { readTransferSettings { $0.clientIdentity } }
        set { changeTransferSettings(named: #function) { $0.clientIdentity = newValue } }
    }

    /// The versions of TLS that may be spoken; 1.2 and 1.3 unless something else is set.
    public var tlsVersions: ClosedRange<TLSVersion> {
        get { readTransferSettings { $0.tlsVersions } }
        set { changeTransferSettings(named: #function) { $0.tlsVersions = newValue } }
    }

    // MARK: - Credentials

    /// The credential for a server that answers 401, sent once; refused, the 401 is the response. `nil`
    /// unless set.
    ///
    /// It goes to the origin (scheme, host, port) of the request and to no other, also after redirects. A
    /// manager gives it to requests to the origin of its base URL; without a base URL, to all. What a server
    /// took is remembered: the next requests with it to the same place send it at once. `user:password@` in
    /// the request's URL is the same, and comes first; `user@` alone gets this credential's password if its
    /// user has that name.
    public var credential: Credential? {
        get { readTransferSettings { $0.credential } }
        set { changeTransferSettings(named: #function) { $0.credential = newValue } }
    }

    /// Whether `URLCredentialStorage.shared` is asked, by the protection space, when ``credential`` is not
    /// there, belongs to another origin, or was refused. True unless set.
    public var shouldUseCredentialStorage: Bool {
        get { readTransferSettings { $0.shouldUseCredentialStorage } }
        set { changeTransferSettings(named: #function) { $0.shouldUseCredentialStorage = newValue } }
    }

    /// The schemes by which credentials are sent; all that are supported unless set. Basic sends the password
    /// in the clear, unless TLS hides it.
    public var authenticationSchemes: Set<AuthenticationScheme> {
        get { readTransferSettings { $0.authenticationSchemes } }
        set { changeTransferSettings(named: #function) { $0.authenticationSchemes = newValue } }
    }

    /// The source of the bearer token that requests carry; `nil` unless set. Its scope is that of
    /// ``credential``.
    ///
    /// The token identifies the user. After it is renewed, cached responses are requested again, and a download
    /// resumes only if the server sends a strong `ETag` and the last 64 KiB are the same.
    public var tokenSource: TokenSource? {
        get { readTransferSettings { $0.tokenSource } }
        set { changeTransferSettings(named: #function) { $0.tokenSource = newValue } }
    }

    /// Change each request before it is sent, in order; none unless set. See ``RequestAdapter``. A manager
    /// gives them to requests in its `secretHeaderScope`: to the origin of its base URL unless that is set.
    public var requestAdapters: [any RequestAdapter] {
        get { readTransferSettings { $0.requestAdapters } }
        set { changeTransferSettings(named: #function) { $0.requestAdapters = newValue } }
    }

    // MARK: - Policies

    /// Whether, and when, a request that failed is sent again. `nil`, as it is unless set: only one that may
    /// be repeated, when its reused connection turns out to be closed. A ``DownloadOperation`` has a policy
    /// of five retries.
    ///
    /// An operation goes on running while it waits. Its place in the queue is given to requests to other
    /// servers meanwhile, and it goes on when there is one again: see ``TransferQueue``. `cancel()` ends the
    /// wait, and after a pause there is none. What came of a body is kept by the rules of resuming.
    public var retryPolicy: RetryPolicy? {
        get { readTransferSettings { $0.retryPolicy } }
        set { changeTransferSettings(named: #function) { $0.retryPolicy = newValue } }
    }

    /// The redirects that are followed, and the fields that go along; ``RedirectPolicy/follow`` unless set.
    /// The closure of `setRedirect(_:)` has the last word.
    public var redirectPolicy: RedirectPolicy {
        get { readTransferSettings { $0.redirectPolicy } }
        set { changeTransferSettings(named: #function) { $0.redirectPolicy = newValue } }
    }

    /// The proxy of requests; the environment's unless set. What does not get through ends with a
    /// ``ProxyError``. A `Proxy-Authorization` field of a request goes to an HTTP proxy, and never to a
    /// server.
    public var proxyConfiguration: ProxyConfiguration {
        get { readTransferSettings { $0.proxyConfiguration } }
        set { changeTransferSettings(named: #function) { $0.proxyConfiguration = newValue } }
    }

    /// The cookie storage; ``CookieJar/shared`` unless something else is set, `nil`: none are sent and none
    /// are kept, as for a request whose `httpShouldHandleCookies` is false, or that has a `Cookie` field of
    /// its own. A jar of its own keeps a manager's cookies apart from the others'.
    ///
    /// An operation ends when those that it brought are in the jar: operations that depend on it send them.
    public var cookieJar: CookieJar? {
        get { readTransferSettings { $0.cookieJar } }
        set { changeTransferSettings(named: #function) { $0.cookieJar = newValue } }
    }

    // MARK: - Limits

    /// The time limits of transfers, and of the whole. Defaults to none but the request's `timeoutInterval`.
    public var timeouts: Timeouts {
        get { readTransferSettings { $0.timeouts } }
        set { changeTransferSettings(named: #function) { $0.timeouts = newValue } }
    }

    /// The limits of sending requests' bodies; all of them hold. The operations of a manager share the
    /// manager's, and each may have more of its own. A limit itself can be changed at any time.
    public var uploadLimits: [BandwidthLimit] {
        get { readTransferSettings { $0.uploadLimits } }
        set { changeTransferSettings(named: #function) { $0.uploadLimits = newValue } }
    }

    /// The limits of receiving responses' bodies, as with ``uploadLimits``. Such a transfer goes over
    /// HTTP/1.1.
    public var downloadLimits: [BandwidthLimit] {
        get { readTransferSettings { $0.downloadLimits } }
        set { changeTransferSettings(named: #function) { $0.downloadLimits = newValue } }
    }
}
