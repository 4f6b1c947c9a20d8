public import Foundation
internal import OperationNetworkingSystem

// The settings of transfers: the same as a manager's, which gives its operations its own.
extension ConnectionOperation {
    /// Whether a request that failed is sent again; `nil`, as it is unless set: never.
    ///
    /// The operation goes on running while it waits, and keeps its place in the queue; `cancel()` ends the
    /// wait, and after a pause there is none. What came of a body is kept by the rules of resuming.
    public var retryPolicy: RetryPolicy? {
        get { state.withLock { $0.settings.retryPolicy } }
        set { configure { $0.settings.retryPolicy = newValue } }
    }

    /// The redirects that are followed, and the fields that go along; ``RedirectPolicy/follow`` unless set.
    /// ``setRedirect(_:)`` has the last word.
    public var redirectPolicy: RedirectPolicy {
        get { state.withLock { $0.settings.redirectPolicy } }
        set { configure { $0.settings.redirectPolicy = newValue } }
    }

    /// The proxy of the request; the environment's unless set. What does not get through ends with a
    /// ``ProxyError``. A `Proxy-Authorization` field of the request goes to an HTTP proxy, and never to a
    /// server.
    public var proxyConfiguration: ProxyConfiguration {
        get { state.withLock { $0.settings.proxyConfiguration } }
        set { configure { $0.settings.proxyConfiguration = newValue } }
    }

    /// The time limit, in seconds, of finding the server, connecting to it and TLS together; a transfer that
    /// needs longer fails with `URLError.timedOut`. `nil`, as it is unless set: no limit but the request's
    /// `timeoutInterval`.
    public var connectTimeout: TimeInterval? {
        get { state.withLock { $0.settings.connectTimeout } }
        set { configure { $0.settings.connectTimeout = newValue } }
    }

    /// The time limit, in seconds, of the whole operation: from its start to the end of the last response's
    /// body, with redirects, retries, the waits between them, and the wait for a connection. Pauses are not
    /// counted, nor what comes after the last byte. One that needs longer fails with `URLError.timedOut`, is
    /// not tried again, and keeps what came as after any failure. `nil`, as it is unless set, or infinity: no
    /// limit but the request's `timeoutInterval`, which one byte now and then is enough for.
    public var totalTimeout: TimeInterval? {
        get { state.withLock { $0.settings.totalTimeout } }
        set { configure { $0.settings.totalTimeout = newValue } }
    }

    /// The number of connections to one scheme, host and port that may carry transfers at once: 6 unless set,
    /// and at least 1. For operations without a manager, which are counted together, and the default of
    /// managers, each of which counts its own; see ``OperationManager/maximumConnectionsPerHost``.
    ///
    /// A connection of HTTP/2 counts once, whatever it carries. One whose transfer cannot go on does not
    /// count after a second: its response has nowhere to go, or its request's body has nothing yet. Nor does
    /// one that is kept for later. A transfer that can go on again does so at once.
    ///
    /// An operation that waits for a connection is executing, and keeps its place in the queue: of this limit
    /// and the queue's `maxConcurrentOperationCount` the smaller one decides. Those that wait begin by
    /// `queuePriority`, as it was when they started, and then in order. No timeout but ``totalTimeout``
    /// counts the time in which they wait.
    ///
    /// A new value counts at once. Can be used on any thread.
    public static var maximumConnectionsPerHost: Int {
        get { ConnectionLimit.process.value }
        set { ConnectionLimit.process.own = newValue }
    }

    /// The limits of sending the request's body; all of them hold. A limit itself can be changed at any time.
    public var uploadLimits: [BandwidthLimit] {
        get { state.withLock { $0.settings.uploadLimits } }
        set { configure { $0.settings.uploadLimits = newValue } }
    }

    /// The limits of receiving the response's body; all of them hold. Such a transfer goes over HTTP/1.1.
    public var downloadLimits: [BandwidthLimit] {
        get { state.withLock { $0.settings.downloadLimits } }
        set { configure { $0.settings.downloadLimits = newValue } }
    }

    /// The cookie storage; ``CookieJar/shared`` unless something else is set, `nil`: none are sent and none
    /// are kept, as for a request whose `httpShouldHandleCookies` is false, or that has a `Cookie` field of
    /// its own.
    ///
    /// The operation ends when those that it brought are in the jar: operations that depend on it send them.
    public var cookieJar: CookieJar? {
        get { state.withLock { $0.settings.cookieJar } }
        set { configure { $0.settings.cookieJar = newValue } }
    }
}
