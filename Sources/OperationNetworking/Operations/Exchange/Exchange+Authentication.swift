import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Authentication: what a 401 leads to. The first row that applies counts:
//
// | The 401 answers, or there is                               | Then                                                 |
// |------------------------------------------------------------|------------------------------------------------------|
// | a token of the `TokenSource`, the first that is refused    | another token, and the request again                 |
// | a digest whose nonce alone was wrong                       | the request again, with the new nonce                |
// | a closure of `setAuthenticationChallenge`                  | it is called; up to 1 MiB of the body is buffered    |
// | a credential of the URL or the operation, not refused yet  | the request again                                    |
// | one in the credential storage, for the protection space    | the request again                                    |
// | none of these, or 20 refusals on this hop                  | the 401 is the response                              |
//
// A cancel or a pause ends the wait for a closure; its late answer belongs to an earlier round, and is ignored.
extension Exchange {
    /// The maximum number of credentials that a server may reject for one request.
    private static let maximumRefusals = 20
    /// The maximum number of bytes of a 401's body that are kept while the owner decides.
    private static let maximumQuestionBody: Int64 = 1024 * 1024

    // MARK: - Before a transfer

    /// Begins a hop: the address has changed, or everything starts over.
    func beginHop() {
        let information = route.takeUserInformation()
        authentication.begin(
            route.address,
            naming: information,
            hasBodyInMemory: route.hasBodyInMemory
        )
    }

    /// Fetches a token if one is needed. Returns whether the transfer has to wait for it. The present token
    /// may have expired while the exchange waited in line.
    func waitsForToken() -> Bool {
        guard let source = configuration.settings.tokenSource, authentication.takesToken(),
            configuration.settings.authenticationSchemes.contains(.bearer),
            route.field("Authorization") == nil
        else { return false }
        if let token = source.validToken {
            authentication.send(token)
            return false
        }
        fetchToken(otherThan: nil, from: source)
        return true
    }

    /// Sends a credential preemptively if the server's scheme is known.
    func authenticateInAdvance(_ network: NetworkContext) {
        guard authentication.mayKnowCredentials, authentication.proof == nil, authentication.refused.isEmpty,
            let url = route.hopURL,
            route.field("Authorization") == nil
        else { return }
        for credential in authentication.knownCredentials {
            let key = memoryKey(credential, url)
            guard let scheme = network.credentials.scheme(for: key, to: url),
                configuration.settings.authenticationSchemes.contains(scheme),
                !scheme.isConnectionBased || route.canSendWithoutBody
            else { continue }
            guard scheme == .digest else {
                return authentication.send(Authentication.Proof(credential: credential, scheme: scheme))
            }
            guard let session = network.credentials.digest(for: key, to: url),
                session.challenge.quality != .authInt || authentication.hasBodyInMemory
            else { continue }
            return authentication.send(credential, by: session)
        }
    }

    private func memoryKey(_ credential: Credential, _ url: URL) -> AuthenticationMemory.Key {
        AuthenticationMemory.Key(
            servers: configuration.settings.layers.servers,
            trustDomain: configuration.trustDomain,
            origin: Origin(url),
            credential: credential
        )
    }

    private func fetchToken(otherThan refused: TokenSource.Token?, from source: TokenSource) {
        owner?.exchangeLasts()
        sink.flush()
        let decide = waitWithoutSlot(.answer) {
            (exchange, result: Result<TokenSource.Token, any Error>, network) in
            switch result {
            case .success(let token):
                exchange.authentication.send(token)
                exchange.prepare(network)
            case .failure(let error):
                exchange.fail(error)
            }
        }
        source.token(otherThan: refused, then: decide)
    }

    // MARK: - After a head

    /// Decides about a head that is a challenge rather than the response. Called inside a libcurl callback.
    /// - Returns: the decision; `nil` if the head is not a challenge.
    func answerChallenge(_ head: ResponseHead) -> Machine.Decision? {
        if head.status == 417, authentication.noteExpectationFailed() || route.dropExpectation() {
            return proceed(.again, after: head)
        }
        guard head.status == 401 else {
            noteAcceptance(head)
            return nil
        }
        let offers = head.offers
        if let decision = renewDigest(offers, head) { return decision }
        noteRefusal()
        guard authentication.refused.count < Self.maximumRefusals else { return nil }
        if let source = configuration.settings.tokenSource, let token = authentication.tokenToRenew() {
            return proceed(.renew(token, source, head), after: head)
        }
        if let owner, owner.exchangeAnswersChallenges, let challenge = challenge(offers, head) {
            ask(.credential(challenge, offers), after: head)
            return .ask(keeping: min(configuration.sideBodyLimit, Self.maximumQuestionBody))
        }
        guard let proof = defaultProof(to: offers, head) else { return nil }
        return proceed(.authenticate(proof, head), after: head)
    }

    /// - Returns: the decision about a head that only requires another nonce; `nil` if it requires more.
    private func renewDigest(
        _ offers: [AuthenticationOffer],
        _ head: ResponseHead
    ) -> Machine.Decision? {
        do throws(TransferError) {
            guard let proof = try authentication.proofToRenew(for: offers) else { return nil }
            // The nonce of another realm stays valid there.
            let realm = DigestChallenge.first(in: offers)?.realm
            if realm == authentication.digest?.challenge.realm { forget(proof) }
            return proceed(.authenticate(proof, head), after: head)
        } catch {
            return .proceed(.fail(error.error(for: route.url)))
        }
    }

    /// Called inside a libcurl callback, so the update is posted to the network thread.
    private func noteAcceptance(_ head: ResponseHead) {
        guard let proof = authentication.proof, let url = route.hopURL, head.status < 500, head.status != 407
        else {
            return
        }
        let isKnown = authentication.token != nil
        authentication.noteAcceptance(head.fields["Authentication-Info"])
        guard !isKnown else { return }
        let key = memoryKey(proof.credential, url)
        let digest = authentication.digest
        NetworkThread.shared.perform { network in
            network.credentials.note(key, scheme: proof.scheme, for: url, digest: digest)
        }
    }

    private func noteRefusal() {
        if let proof = authentication.proof, authentication.token == nil { forget(proof) }
        authentication.noteRefusal()
    }

    private func forget(_ proof: Authentication.Proof) {
        guard let url = route.hopURL else { return }
        let key = memoryKey(proof.credential, url)
        let digest = authentication.digest
        NetworkThread.shared.perform { network in
            network.credentials.forget(key, for: url, digest: digest)
        }
    }

    // MARK: - Answers

    /// The proof without a challenge closure: from the caller's credential, then from the storage. If the URL
    /// has a user name without a password, the storage may have the password.
    private func defaultProof(
        to offers: [AuthenticationOffer],
        _ head: ResponseHead
    ) -> Authentication.Proof? {
        let proof = authentication.defaultProof(to: offers)
        guard configuration.settings.shouldUseCredentialStorage, !offers.isEmpty else { return proof }
        guard let proof else { return storedProof(to: offers, head) }
        guard let user = authentication.userWithoutPassword(in: proof) else { return proof }
        return storedProof(to: offers, head, of: user) ?? proof
    }

    /// The proof from the credential storage. If `user` is `nil`, any user's credential may be used.
    private func storedProof(
        to offers: [AuthenticationOffer],
        _ head: ResponseHead,
        of user: String? = nil
    ) -> Authentication.Proof? {
        guard let challenge = challenge(offers, head) else { return nil }
        let allowed = configuration.settings.authenticationSchemes
        return challenge.storedCredentials(allowed: allowed).lazy
            .filter { user == nil || $0.user == user }
            .compactMap { self.authentication.proof(with: $0, to: offers) }
            .first
    }

    private func challenge(_ offers: [AuthenticationOffer], _ head: ResponseHead) -> AuthenticationChallenge?
    {
        guard let url = route.hopURL else { return nil }
        return AuthenticationChallenge(
            url: url,
            offers: offers,
            allowed: configuration.settings.authenticationSchemes,
            previousFailureCount: authentication.refused.count,
            response: head.response(for: url)
        )
    }

    func send(_ proof: Authentication.Proof, after head: ResponseHead) {
        guard route.canSendBodyAgain else { return endUnsent(head) }
        authentication.send(proof, to: head.offers)
        startAgain()
    }

    func renew(_ token: TokenSource.Token, from source: TokenSource, after head: ResponseHead) {
        guard route.canSendBodyAgain else {
            source.noteRefusal(of: token)
            return endUnsent(head)
        }
        fetchToken(otherThan: token, from: source)
    }

    /// Acts on the challenge closure's answer.
    func act(
        on answer: AuthenticationChallenge.Answer,
        to offers: [AuthenticationOffer],
        _ head: ResponseHead
    ) -> Machine.Effect {
        guard let proof = proof(in: answer, to: offers, head) else { return proceedUnanswered(answer, head) }
        guard route.canSendBodyAgain else { return fail(route.unsentBody, after: head) }
        return proceed(.authenticate(proof, head), afterAnswerTo: head)
    }

    private func proof(
        in answer: AuthenticationChallenge.Answer,
        to offers: [AuthenticationOffer],
        _ head: ResponseHead
    ) -> Authentication.Proof? {
        switch answer {
        case .use(let credential):
            return authentication.proof(with: credential, to: offers)
        case .performDefaultHandling:
            return defaultProof(to: offers, head)
        case .refuse, .continueWithoutCredential, .trustServer:
            return nil
        }
    }

    /// Fails because there is a credential, but the body cannot be sent again. The response says why it was
    /// needed.
    private func endUnsent(_ head: ResponseHead) {
        report(head)
        fail(route.unsentBody)
    }

    private func proceedUnanswered(
        _ answer: AuthenticationChallenge.Answer,
        _ head: ResponseHead
    ) -> Machine.Effect {
        if case .refuse = answer {
            return fail(URLError.refusedAuthentication(url: route.hopURL), after: head)
        }
        if let delay = retryDelay(after: head) { return proceed(.retry(after: delay), afterAnswerTo: head) }
        guard let question = addressQuestion(after: head) else { return take(head) }
        ask(question, after: head)
        return .none
    }
}
