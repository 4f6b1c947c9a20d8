internal import FoundationNetworking

/// The request of a download with everything that decides whether earlier bytes can be used for it.
struct DownloadRequest: Sendable {
    let request: RequestRecord
    /// The fields that count if the server's `Vary` names them.
    private let varying: VaryingFields
    private let identity: RequestIdentity
    /// How the server is verified.
    let verification: ServerVerification
    /// Whether a closure decides about servers that the policy does not accept.
    let asksAboutServers: Bool
    /// Whether bytes from another scheme, host, port or path are accepted.
    var takesOtherLocations = false
    /// Whether the caller expects a digest of the whole, which decides in the end.
    var knowsWhole = false
    /// Whether the bytes of an earlier download are discarded, and need not be read.
    var startsOver = false

    /// - Parameters:
    ///   - request: the request that will be sent.
    ///   - identity: the credentials that it is sent with; `nil` for those in the request.
    ///   - verification: how the server is verified; `nil` for the usual way of the URL.
    ///   - asksAboutServers: whether a closure decides about servers that the policy does not accept.
    init(
        _ request: URLRequest,
        as identity: RequestIdentity? = nil,
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

    /// - Parameters:
    ///   - names: the fields that the response's `Vary` names, in lower case.
    ///   - verification: how the servers were verified, if the digests have to cover that.
    /// - Returns: the texts whose digests are compared with those of other requests.
    func texts(varying names: [String], under verification: ServerVerification? = nil) -> RequestDigests.Texts
    {
        let verified = verification?.note(besides: request.url).map { ["verification " + $0] } ?? []
        let query = request.query.map { ["query " + $0] } ?? []
        return RequestDigests.Texts(
            location: request.location,
            sender: (verified + query + varying.lines(names) + ["", identity.users]).joined(separator: "\n"),
            selection: request.selection
        )
    }

    /// Whether this request accepts how the servers of a checkpoint were verified. A server that only a closure
    /// trusted has to be trusted again, which is known when it responds.
    func accepts(_ checkpoint: DownloadCheckpoint) -> Bool {
        verification.accepts(checkpoint.serverVerification)
            && (asksAboutServers || !dependsOnTrust(checkpoint))
    }

    /// Whether some bytes came from servers that only a closure trusted, and has to trust again.
    func dependsOnTrust(_ checkpoint: DownloadCheckpoint) -> Bool {
        checkpoint.trustedServers != nil && verification != .anyServer
    }

    /// Whether a closure that trusts `servers` trusts all servers of the checkpoint.
    func trusts(_ checkpoint: DownloadCheckpoint, _ servers: Set<String>) -> Bool {
        !dependsOnTrust(checkpoint) || servers.isSuperset(of: checkpoint.trustedServers ?? [])
    }
}
