internal import OperationNetworkingSystem

// Which servers are talked to.
extension ConnectionOperation {
    /// The pins and checks of servers, beyond their certificates' authorities. A refusal is a
    /// ``ServerTrustError``.
    public var securityPolicy: SecurityPolicy {
        get { state.withLock { $0.settings.securityPolicy } }
        set { configure { $0.settings.securityPolicy = newValue } }
    }

    /// The trusted authorities; the system's authorities unless something else is set.
    public var trustAnchors: TrustAnchors {
        get { state.withLock { $0.settings.trustAnchors } }
        set { configure { $0.settings.trustAnchors = newValue } }
    }

    /// The client certificate for servers that ask for one; `nil`: none. It is for the origin of the request,
    /// and not shown to another one after a redirect.
    public var clientIdentity: ClientIdentity? {
        get { state.withLock { $0.settings.clientIdentity } }
        set { configure { $0.settings.clientIdentity = newValue } }
    }

    /// The versions of TLS that may be spoken; 1.2 and 1.3 unless something else is set.
    public var tlsVersions: ClosedRange<TLSVersion> {
        get { state.withLock { $0.settings.tlsVersions } }
        set { configure { $0.settings.tlsVersions = newValue } }
    }
}
