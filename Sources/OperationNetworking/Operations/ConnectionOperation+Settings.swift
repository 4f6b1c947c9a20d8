public import Foundation
internal import OperationNetworkingSystem

// How the operation's requests travel. The same settings as a manager's, which gives its operations its own.
extension ConnectionOperation {
    /// Whether a request that failed is sent again; `nil`, as it is unless set: never.
    ///
    /// The operation goes on running while it waits, and keeps its place in the queue; `cancel()` ends the wait, and
    /// after a pause there is none. What came of a body is kept by the rules of resuming.
    public var retryPolicy: RetryPolicy? {
        get { state.withLock { $0.settings.retryPolicy } }
        set { configure { $0.settings.retryPolicy = newValue } }
    }

    /// Which redirects are followed, and what goes along; ``RedirectPolicy/follow`` unless set. ``setRedirect(_:)`` has the
    /// last word.
    public var redirectPolicy: RedirectPolicy {
        get { state.withLock { $0.settings.redirectPolicy } }
        set { configure { $0.settings.redirectPolicy = newValue } }
    }

    /// Which proxy the request goes through; what the environment says unless set. What does not get through ends with a
    /// ``ProxyError``. A `Proxy-Authorization` field of the request goes to an HTTP proxy, and never to a server.
    public var proxyConfiguration: ProxyConfiguration {
        get { state.withLock { $0.settings.proxyConfiguration } }
        set { configure { $0.settings.proxyConfiguration = newValue } }
    }

    /// Seconds that finding the server, connecting to it and TLS may take together; a transfer that needs longer fails
    /// with `URLError.timedOut`. `nil`, as it is unless set: no limit but the request's `timeoutInterval`.
    public var connectTimeout: TimeInterval? {
        get { state.withLock { $0.settings.connectTimeout } }
        set { configure { $0.settings.connectTimeout = newValue } }
    }

    /// How fast the request's body is sent; all of them hold. A limit itself can be changed at any time.
    public var uploadLimits: [BandwidthLimit] {
        get { state.withLock { $0.settings.uploadLimits } }
        set { configure { $0.settings.uploadLimits = newValue } }
    }

    /// How fast the response's body is received; all of them hold. Such a transfer goes over HTTP/1.1.
    public var downloadLimits: [BandwidthLimit] {
        get { state.withLock { $0.settings.downloadLimits } }
        set { configure { $0.settings.downloadLimits = newValue } }
    }

    /// Where cookies come from and go to; ``CookieJar/shared`` unless something else is set, `nil`: none are sent and none
    /// are kept, as for a request whose `httpShouldHandleCookies` is false, or that has a `Cookie` field of its own.
    ///
    /// The operation ends when those that it brought are in the jar: operations that depend on it send them.
    public var cookieJar: CookieJar? {
        get { state.withLock { $0.settings.cookieJar } }
        set { configure { $0.settings.cookieJar = newValue } }
    }
}
