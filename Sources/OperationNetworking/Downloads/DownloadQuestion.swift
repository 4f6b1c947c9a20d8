internal import FoundationNetworking

/// A download's question: bytes of an earlier one are kept as far as they answer this one, too.
struct DownloadQuestion: Sendable {
    let request: RequestRecord
    /// The fields that count where the server says so.
    let varying: VaryingFields
    let identity: RequestIdentity
    /// The verification of the server.
    let verification: ServerVerification
    /// Whether a closure is asked about servers that the policy does not accept.
    let asksAboutServers: Bool
    /// Whether bytes count that came for another scheme, host, port or path.
    var takesOtherLocations = false
    /// Whether the caller has a digest of the whole, which decides in the end.
    var knowsWhole = false

    /// - Parameters:
    ///   - request: the request that will be sent.
    ///   - identity: its user; `nil`: as the request alone says.
    ///   - verification: how the server is verified; `nil`: as is usual for the URL.
    ///   - asksAboutServers: whether a closure is asked about servers that the policy does not accept.
    init(
        _ request: URLRequest,
        as identity: RequestIdentity?,
        under verification: ServerVerification? = nil,
        _ asksAboutServers: Bool = false
    ) {
        let identity = identity ?? RequestIdentity(request)
        self.request = RequestRecord(request, as: identity)
        varying = VaryingFields(request)
        self.identity = identity
        self.verification = verification ?? .usual(for: self.request.url)
        self.asksAboutServers = asksAboutServers
    }

    /// Whether the servers that brought the bytes of a checkpoint are good enough for this question. A server
    /// that only a closure trusted has to be trusted again: that is known when it answers.
    func accepts(_ checkpoint: DownloadCheckpoint) -> Bool {
        verification.accepts(checkpoint.serverVerification)
            && (asksAboutServers || !dependsOnTrust(checkpoint))
    }

    /// Whether servers that only a closure trusted brought bytes of it, and have to be trusted again.
    func dependsOnTrust(_ checkpoint: DownloadCheckpoint) -> Bool {
        checkpoint.trustedServers != nil && verification != .anyServer
    }

    /// Whether a closure that trusts `servers` trusts all that brought bytes of it.
    func trusts(_ checkpoint: DownloadCheckpoint, _ servers: Set<String>) -> Bool {
        !dependsOnTrust(checkpoint) || servers.isSuperset(of: checkpoint.trustedServers ?? [])
    }
}
