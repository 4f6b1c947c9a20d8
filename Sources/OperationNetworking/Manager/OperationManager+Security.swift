internal import OperationNetworkingSystem

// Which servers are talked to.
extension OperationManager {
    /// Which servers are talked to, beyond what their authorities say. A refusal is a ``ServerTrustError``.
    public var securityPolicy: SecurityPolicy {
        get { state.withLock { $0.settings.securityPolicy } }
        set { state.change { $0.settings.securityPolicy = newValue } }
    }

    /// Whose certificates are trusted; the system's authorities unless something else is set.
    public var trustAnchors: TrustAnchors {
        get { state.withLock { $0.settings.trustAnchors } }
        set { state.change { $0.settings.trustAnchors = newValue } }
    }

    /// What is shown to a server that asks for a client's certificate; `nil`: nothing. It is for the origin
    /// of the request, and not shown to another one after a redirect.
    public var clientIdentity: ClientIdentity? {
        get { state.withLock { $0.settings.clientIdentity } }
        set { state.change { $0.settings.clientIdentity = newValue } }
    }

    /// The versions of TLS that may be spoken; 1.2 and 1.3 unless something else is set.
    public var tlsVersions: ClosedRange<TLSVersion> {
        get { state.withLock { $0.settings.tlsVersions } }
        set { state.change { $0.settings.tlsVersions = newValue } }
    }
}
