internal import FoundationNetworking

/// A download's question: bytes of an earlier one are kept as far as they answer this one, too.
struct DownloadQuestion: Sendable {
    let request: RequestRecord
    /// The fields that count where the server says so.
    private let varying: VaryingFields
    private let identity: RequestIdentity
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

    /// The texts that are compared with a later request's by their digests.
    /// - Parameters:
    ///   - names: the fields that the response's `Vary` names, in lower case.
    ///   - verification: how the servers were verified, if the digests are to cover that; `nil` if not, or as is
    ///     usual for the URL.
    func texts(varying names: [String], under verification: ServerVerification? = nil) -> RequestDigests.Texts {
        let verified = verification?.note(besides: request.url).map { ["verification " + $0] } ?? []
        let query = request.query.map { ["query " + $0] } ?? []
        return RequestDigests.Texts(
            location: request.location,
            sender: (verified + query + varying.lines(names) + ["", identity.users]).joined(separator: "\n"),
            selection: request.selection
        )
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
