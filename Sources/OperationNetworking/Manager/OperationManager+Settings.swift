public import Foundation
internal import OperationNetworkingSystem

// The settings of transfers: cookies, redirects, proxies, time limits, connections, bandwidth.
extension OperationManager {
    /// The cookie storage; ``CookieJar/shared`` unless something else is set, `nil`: there are none. A jar of
    /// its own keeps a manager's cookies apart from the others'.
    public var cookieJar: CookieJar? {
        get { state.withLock { $0.settings.cookieJar } }
        set { state.change { $0.settings.cookieJar = newValue } }
    }

    /// Whether, and when, operations try again; `nil`, as it is unless set: never.
    public var retryPolicy: RetryPolicy? {
        get { state.withLock { $0.settings.retryPolicy } }
        set { state.change { $0.settings.retryPolicy = newValue } }
    }

    /// The redirects that are followed, and the fields that go along; ``RedirectPolicy/follow`` unless
    /// something else is set.
    public var redirectPolicy: RedirectPolicy {
        get { state.withLock { $0.settings.redirectPolicy } }
        set { state.change { $0.settings.redirectPolicy = newValue } }
    }

    /// The proxy of requests; the environment's unless something else is set.
    public var proxyConfiguration: ProxyConfiguration {
        get { state.withLock { $0.settings.proxyConfiguration } }
        set { state.change { $0.settings.proxyConfiguration = newValue } }
    }

    /// The time limit, in seconds, of finding a server, connecting to it and TLS together; `nil`, as it is
    /// unless set: no limit but a request's `timeoutInterval`.
    public var connectTimeout: TimeInterval? {
        get { state.withLock { $0.settings.connectTimeout } }
        set { state.change { $0.settings.connectTimeout = newValue } }
    }

    /// The time limit, in seconds, of a whole operation; `nil`, as it is unless set: no limit. See
    /// ``ConnectionOperation/totalTimeout``.
    public var totalTimeout: TimeInterval? {
        get { state.withLock { $0.settings.totalTimeout } }
        set { state.change { $0.settings.totalTimeout = newValue } }
    }

    /// The number of connections to one scheme, host and port that may carry transfers of the manager's
    /// operations at once, at least 1; unless set, what ``ConnectionOperation/maximumConnectionsPerHost``
    /// says, which has the details. Each manager counts its own. Of this limit and the
    /// `maxConcurrentOperationCount` of ``operationQueue`` the smaller one decides. A new value counts at
    /// once, for all its operations.
    public var maximumConnectionsPerHost: Int {
        get { state.withLock { $0.settings.connectionLimit }.value }
        set { state.withLock { $0.settings.connectionLimit }.own = newValue }
    }

    /// The limits of sending that all operations share; each may have more of its own.
    public var uploadLimits: [BandwidthLimit] {
        get { state.withLock { $0.settings.uploadLimits } }
        set { state.change { $0.settings.uploadLimits = newValue } }
    }

    /// The limits of receiving that all operations share; each may have more of its own.
    public var downloadLimits: [BandwidthLimit] {
        get { state.withLock { $0.settings.downloadLimits } }
        set { state.change { $0.settings.downloadLimits = newValue } }
    }
}
