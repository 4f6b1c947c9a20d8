public import Foundation

/// The owner of settings of transfers: an operation, for its own, or a manager, for those of the operations
/// that it makes from now on.
///
/// Settings may be read and set on any thread. Those of an operation are set before it starts.
public protocol TransferConfigurable: AnyObject, Sendable {
    /// Reads the settings, under the owner's lock. Use the properties instead.
    func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value
    /// Changes the settings, under the owner's lock. Use the properties instead.
    func changeTransferSettings(_ body: (inout TransferSettings) -> Void)
}

// MARK: - Trust

extension TransferConfigurable {
    /// The pins and checks of servers, beyond their certificates' authorities. A refusal is a
    /// ``ServerTrustError``.
    public var securityPolicy: SecurityPolicy {
        get { readTransferSettings(\.securityPolicy) }
        set { changeTransferSettings { $0.securityPolicy = newValue } }
    }

    /// The trusted authorities; the system's authorities unless something else is set.
    public var trustAnchors: TrustAnchors {
        get { readTransferSettings(\.trustAnchors) }
        set { changeTransferSettings { $0.trustAnchors = newValue } }
    }

    /// The client certificate for servers that ask for one; `nil`: none. It is for the origin of the request,
    /// and not shown to another one after a redirect.
    public var clientIdentity: ClientIdentity? {
        get { readTransferSettings(\.clientIdentity) }
        set { changeTransferSettings { $0.clientIdentity = newValue } }
    }

    /// The versions of TLS that may be spoken; 1.2 and 1.3 unless something else is set.
    public var tlsVersions: ClosedRange<TLSVersion> {
        get { readTransferSettings(\.tlsVersions) }
        set { changeTransferSettings { $0.tlsVersions = newValue } }
    }
}

// MARK: - Credentials

extension TransferConfigurable {
    /// The credential for a server that answers 401, sent once; refused, the 401 is the response. `nil`
    /// unless set.
    ///
    /// It goes to the origin (scheme, host, port) of the request and to no other, also after redirects. A
    /// manager gives it to requests to the origin of its base URL; without a base URL, to all. What a server
    /// took is remembered: the next requests with it to the same place send it at once. `user:password@` in
    /// the request's URL is the same, and comes first.
    public var credential: Credential? {
        get { readTransferSettings(\.credential) }
        set { changeTransferSettings { $0.credential = newValue } }
    }

    /// Whether `URLCredentialStorage.shared` is asked, by the protection space, when ``credential`` is not
    /// there, belongs to another origin, or was refused. True unless set.
    public var shouldUseCredentialStorage: Bool {
        get { readTransferSettings(\.shouldUseCredentialStorage) }
        set { changeTransferSettings { $0.shouldUseCredentialStorage = newValue } }
    }

    /// The schemes by which credentials are sent; all that are supported unless set. Basic sends the password
    /// in the clear, unless TLS hides it.
    public var authenticationSchemes: Set<AuthenticationScheme> {
        get { readTransferSettings(\.authenticationSchemes) }
        set { changeTransferSettings { $0.authenticationSchemes = newValue } }
    }

    /// The source of the bearer token that requests carry; `nil` unless set. Its scope is that of
    /// ``credential``.
    public var tokenSource: TokenSource? {
        get { readTransferSettings(\.tokenSource) }
        set { changeTransferSettings { $0.tokenSource = newValue } }
    }
}

// MARK: - Policies

extension TransferConfigurable {
    /// Whether, and when, a request that failed is sent again; `nil`, as it is unless set: never.
    ///
    /// An operation goes on running while it waits, and keeps its place in the queue; `cancel()` ends the
    /// wait, and after a pause there is none. What came of a body is kept by the rules of resuming.
    public var retryPolicy: RetryPolicy? {
        get { readTransferSettings(\.retryPolicy) }
        set { changeTransferSettings { $0.retryPolicy = newValue } }
    }

    /// The redirects that are followed, and the fields that go along; ``RedirectPolicy/follow`` unless set.
    /// The closure of `setRedirect(_:)` has the last word.
    public var redirectPolicy: RedirectPolicy {
        get { readTransferSettings(\.redirectPolicy) }
        set { changeTransferSettings { $0.redirectPolicy = newValue } }
    }

    /// The proxy of requests; the environment's unless set. What does not get through ends with a
    /// ``ProxyError``. A `Proxy-Authorization` field of a request goes to an HTTP proxy, and never to a
    /// server.
    public var proxyConfiguration: ProxyConfiguration {
        get { readTransferSettings(\.proxyConfiguration) }
        set { changeTransferSettings { $0.proxyConfiguration = newValue } }
    }

    /// The cookie storage; ``CookieJar/shared`` unless something else is set, `nil`: none are sent and none
    /// are kept, as for a request whose `httpShouldHandleCookies` is false, or that has a `Cookie` field of
    /// its own. A jar of its own keeps a manager's cookies apart from the others'.
    ///
    /// An operation ends when those that it brought are in the jar: operations that depend on it send them.
    public var cookieJar: CookieJar? {
        get { readTransferSettings(\.cookieJar) }
        set { changeTransferSettings { $0.cookieJar = newValue } }
    }
}

// MARK: - Limits

extension TransferConfigurable {
    /// The time limit, in seconds, of finding the server, connecting to it and TLS together; a transfer that
    /// needs longer fails with `URLError.timedOut`. `nil`, as it is unless set: no limit but the request's
    /// `timeoutInterval`.
    public var connectTimeout: TimeInterval? {
        get { readTransferSettings(\.connectTimeout) }
        set { changeTransferSettings { $0.connectTimeout = newValue } }
    }

    /// The time limit, in seconds, of a whole operation: from its start to the end of the last response's
    /// body, with redirects, retries, the waits between them, and the wait for a connection. Pauses are not
    /// counted, nor what comes after the last byte. One that needs longer fails with `URLError.timedOut`, is
    /// not tried again, and keeps what came as after any failure. `nil`, as it is unless set, or infinity: no
    /// limit but the request's `timeoutInterval`, which one byte now and then is enough for.
    public var totalTimeout: TimeInterval? {
        get { readTransferSettings(\.totalTimeout) }
        set { changeTransferSettings { $0.totalTimeout = newValue } }
    }

    /// The limits of sending requests' bodies; all of them hold. The operations of a manager share the
    /// manager's, and each may have more of its own. A limit itself can be changed at any time.
    public var uploadLimits: [BandwidthLimit] {
        get { readTransferSettings(\.uploadLimits) }
        set { changeTransferSettings { $0.uploadLimits = newValue } }
    }

    /// The limits of receiving responses' bodies, as with ``uploadLimits``. Such a transfer goes over
    /// HTTP/1.1.
    public var downloadLimits: [BandwidthLimit] {
        get { readTransferSettings(\.downloadLimits) }
        set { changeTransferSettings { $0.downloadLimits = newValue } }
    }
}
