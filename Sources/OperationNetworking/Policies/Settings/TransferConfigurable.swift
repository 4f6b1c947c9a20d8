/// The settings that a manager, an operation and a session have in common.
///
/// ```swift
/// manager.retryPolicy = RetryPolicy()
/// operation.timeouts.connect = 5
/// ```
///
/// A manager or session applies them to the operations that it creates afterwards. The settings of an
/// operation must be set before it is added to a queue or started; setting them later traps. They can be read
/// and set on any thread.
public protocol TransferConfigurable: AnyObject, Sendable {
    /// Reads the settings under the owner's lock. Use the properties unless you need several settings that
    /// are consistent.
    func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value
    /// Changes the settings under the owner's lock. Use the properties unless several settings have to change
    /// together.
    /// - Parameters:
    ///   - setting: the name that is reported if the change comes too late and traps.
    ///   - body: the change.
    func changeTransferSettings(named setting: StaticString, _ body: (inout TransferSettings) -> Void)
}

extension TransferConfigurable {
    /// Changes several settings under the owner's lock.
    public func changeTransferSettings(_ body: (inout TransferSettings) -> Void) {
        changeTransferSettings(named: "transferSettings", body)
    }

    // MARK: - Trust

    /// Certificate pinning and host name checks, beyond the verification by ``trustAnchors``. Failures are
    /// ``ServerTrustError``s. Defaults to ``SecurityPolicy/default``.
    public var securityPolicy: SecurityPolicy {
        get { readTransferSettings { $0.securityPolicy } }
        set { changeTransferSettings(named: #function) { $0.securityPolicy = newValue } }
    }

    /// The trusted certificate authorities. Defaults to those of the system.
    public var trustAnchors: TrustAnchors {
        get { readTransferSettings { $0.trustAnchors } }
        set { changeTransferSettings(named: #function) { $0.trustAnchors = newValue } }
    }

    /// The client certificate for servers that request one. Sent to the origin of the request only, also
    /// after redirects. Defaults to `nil`.
    public var clientIdentity: ClientIdentity? {
        get { readTransferSettings { $0.clientIdentity } }
        set { changeTransferSettings(named: #function) { $0.clientIdentity = newValue } }
    }

    /// The permitted versions of TLS. Defaults to 1.2 and 1.3.
    public var tlsVersions: ClosedRange<TLSVersion> {
        get { readTransferSettings { $0.tlsVersions } }
        set { changeTransferSettings(named: #function) { $0.tlsVersions = newValue } }
    }

    // MARK: - Credentials

    /// The credential for a server that answers 401. Sent once; if it is refused, the 401 is the response.
    /// Defaults to `nil`.
    ///
    /// It is sent to the origin (scheme, host, port) of the request only, also after redirects. A manager
    /// applies it to requests to the origin of its base URL or, without a base URL, to all requests. Once a
    /// server has accepted it, later requests with it to the same protection space send it preemptively.
    /// `user:password@` in the request's URL has the same effect and takes precedence; `user@` alone uses
    /// this credential's password if its user has that name.
    public var credential: Credential? {
        get { readTransferSettings { $0.credential } }
        set { changeTransferSettings(named: #function) { $0.credential = newValue } }
    }

    /// Whether `URLCredentialStorage.shared` is searched, by protection space, if ``credential`` is not set,
    /// belongs to another origin, or was refused. Defaults to true.
    public var shouldUseCredentialStorage: Bool {
        get { readTransferSettings { $0.shouldUseCredentialStorage } }
        set { changeTransferSettings(named: #function) { $0.shouldUseCredentialStorage = newValue } }
    }

    /// The permitted authentication schemes. Defaults to all supported ones. Without TLS, Basic sends the
    /// password in the clear.
    public var authenticationSchemes: Set<AuthenticationScheme> {
        get { readTransferSettings { $0.authenticationSchemes } }
        set { changeTransferSettings(named: #function) { $0.authenticationSchemes = newValue } }
    }

    /// The source of the requests' bearer token, sent to the same origin as ``credential``. Defaults to
    /// `nil`.
    ///
    /// The token identifies the user. After it is renewed, cached responses are requested again, and a download
    /// resumes only if the server sends a strong `ETag` and the last 64 KiB are the same.
    public var tokenSource: TokenSource? {
        get { readTransferSettings { $0.tokenSource } }
        set { changeTransferSettings(named: #function) { $0.tokenSource = newValue } }
    }

    /// Adapters that change each request before it is sent, in order. See ``RequestAdapter``. A manager
    /// applies them to requests in its `secretHeaderScope`, which defaults to the origin of its base URL.
    /// Defaults to none.
    public var requestAdapters: [any RequestAdapter] {
        get { readTransferSettings { $0.requestAdapters } }
        set { changeTransferSettings(named: #function) { $0.requestAdapters = newValue } }
    }

    // MARK: - Policies

    /// Whether and when a failed request is retried. With `nil` (the default), only a request that may be
    /// repeated is retried, if its reused connection turns out to be closed. A ``DownloadOperation`` defaults
    /// to five retries.
    ///
    /// A waiting operation stays executing, but yields its slot in the queue to requests to other servers and
    /// continues when a slot is free: see ``TransferQueue``. `cancel()` and `pause()` end the wait. Partial
    /// bodies are kept by the rules of resuming.
    public var retryPolicy: RetryPolicy? {
        get { readTransferSettings { $0.retryPolicy } }
        set { changeTransferSettings(named: #function) { $0.retryPolicy = newValue } }
    }

    /// The redirects that are followed, and the fields that are sent along. Defaults to
    /// ``RedirectPolicy/follow``. The closure of `setRedirect(_:)` makes the final decision.
    public var redirectPolicy: RedirectPolicy {
        get { readTransferSettings { $0.redirectPolicy } }
        set { changeTransferSettings(named: #function) { $0.redirectPolicy = newValue } }
    }

    /// The proxy of requests. Defaults to that of the environment. Failures at the proxy are ``ProxyError``s.
    /// A request's `Proxy-Authorization` field is sent to an HTTP proxy, and never to a server.
    public var proxyConfiguration: ProxyConfiguration {
        get { readTransferSettings { $0.proxyConfiguration } }
        set { changeTransferSettings(named: #function) { $0.proxyConfiguration = newValue } }
    }

    /// The cookie storage. Defaults to ``CookieJar/shared``. With `nil`, cookies are neither sent nor stored,
    /// as for a request whose `httpShouldHandleCookies` is false or that sets a `Cookie` field. A separate
    /// jar isolates the cookies of a manager.
    ///
    /// The cookies of a response are stored before the operation finishes, so dependent operations send them.
    public var cookieJar: CookieJar? {
        get { readTransferSettings { $0.cookieJar } }
        set { changeTransferSettings(named: #function) { $0.cookieJar = newValue } }
    }

    // MARK: - Limits

    /// The time limits of the operation and its connections. Defaults to none but the request's
    /// `timeoutInterval`.
    public var timeouts: Timeouts {
        get { readTransferSettings { $0.timeouts } }
        set { changeTransferSettings(named: #function) { $0.timeouts = newValue } }
    }

    /// The rate limits for sending request bodies, all of which apply. The operations of a manager share its
    /// limits, and each can have further ones. The rate of a limit can be changed at any time. Defaults to
    /// none.
    public var uploadLimits: [BandwidthLimit] {
        get { readTransferSettings { $0.uploadLimits } }
        set { changeTransferSettings(named: #function) { $0.uploadLimits = newValue } }
    }

    /// The rate limits for receiving response bodies; see ``uploadLimits``. Transfers with such a limit use
    /// HTTP/1.1.
    public var downloadLimits: [BandwidthLimit] {
        get { readTransferSettings { $0.downloadLimits } }
        set { changeTransferSettings(named: #function) { $0.downloadLimits = newValue } }
    }
}
