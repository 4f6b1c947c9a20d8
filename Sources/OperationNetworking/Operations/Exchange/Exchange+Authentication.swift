import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Authentication: what a 401 leads to.
extension Exchange {
    /// Answers to one request that a server may refuse; a client that has more does not have the right one.
    private static let maximumRefusals = 20
    /// Bytes that are kept of a 401's body while the owner thinks.
    private static let maximumQuestionBody: Int64 = 1024 * 1024

    // MARK: - Before a transfer

    /// The hop has another address now, or everything begins again. What its URL says about who asks is taken
    /// out of it: the server does not need to see that.
    func beginHop() {
        let information = hop.url?.userInformation
        if let url = hop.url, url.user != nil || url.password != nil { hop.url = url.withoutUserInformation }
        authentication.begin(
            hop.url,
            credential: information.map { Credential(user: $0.user, password: $0.password) },
            hasBodyInMemory: hop.httpBodyStream == nil
        )
    }

    /// Whether a token has to be fetched first; then the transfer starts after that.
    func waitsForToken() -> Bool {
        guard let source = configuration.settings.tokenSource, authentication.isAtHome,
            authentication.proof == nil, authentication.refused.isEmpty,
            configuration.settings.authenticationSchemes.contains(.bearer),
            hop.value(forHTTPHeaderField: "Authorization") == nil
        else { return false }
        if let token = source.goodToken {
            authentication.send(token)
            return false
        }
        fetchToken(otherThan: nil, from: source)
        return true
    }

    /// Sends at once what the server is known to want.
    func authenticateInAdvance(_ room: NetworkRoom) {
        guard authentication.proof == nil, authentication.refused.isEmpty, let url = hop.url,
            hop.value(forHTTPHeaderField: "Authorization") == nil
        else { return }
        for credential in authentication.knownCredentials {
            let key = memoryKey(credential, url)
            guard let scheme = room.credentials.scheme(for: key, to: url),
                configuration.settings.authenticationSchemes.contains(scheme),
                !scheme.isConnectionBased || canAskWithoutBody
            else { continue }
            guard scheme == .digest else {
                return authentication.send(Authentication.Proof(credential: credential, scheme: scheme))
            }
            guard let session = room.credentials.digest(for: key, to: url),
                session.challenge.quality != .authInt || authentication.hasBodyInMemory
            else { continue }
            return authentication.send(credential, by: session)
        }
    }

    /// libcurl first asks without the body. A server that has changed its mind would take that for the whole
    /// request: so not unless the body could not be sent a second time anyway.
    private var canAskWithoutBody: Bool {
        if hop.httpBody != nil { return false }
        guard hop.httpBodyStream != nil else { return !hop.sendsEmptyBody }
        return streamedBody?.isRepeatable == false
    }

    private func memoryKey(_ credential: Credential, _ url: URL) -> AuthenticationMemory.Key {
        AuthenticationMemory.Key(
            trustDomain: configuration.trustDomain,
            origin: Origin(url),
            credential: credential
        )
    }

    private func fetchToken(otherThan refused: TokenSource.Token?, from source: TokenSource) {
        phase = .deciding
        sink.flush()
        source.token(otherThan: refused) { [round] result in
            NetworkThread.shared.perform { room in
                guard self.round == round, case .deciding = self.phase else { return }
                switch result {
                case .success(let token):
                    self.authentication.send(token)
                    self.startTransfer(room)
                case .failure(let error):
                    self.fail(error)
                }
            }
        }
    }

    // MARK: - After a head

    /// Called from within libcurl.
    /// - Returns: what becomes of a head that is no response yet, but a question; `nil` if it is none.
    func answerChallenge(_ head: ResponseHead) -> HeadAnswer? {
        if head.status == 417, authentication.noteNoLeave() {
            return discardBody(of: head) { $0.startAgain() }
        }
        guard head.status == 401 else {
            noteAcceptance(head)
            return nil
        }
        let offers = AuthenticationOffer.offers(in: head.fields.values(for: "WWW-Authenticate"))
        if let answer = renewDigest(offers, head) { return answer }
        noteRefusal()
        guard authentication.refused.count < Self.maximumRefusals else { return nil }
        if let source = configuration.settings.tokenSource, let token = authentication.tokenToRenew() {
            return discardBody(of: head) { $0.renew(token, from: source, after: head) }
        }
        if let owner, owner.exchangeAnswersChallenges, let challenge = challenge(offers, head) {
            beginAsking(.keepAside(min(configuration.sideBodyLimit, Self.maximumQuestionBody)))
            ask(owner, challenge, offers, head)
            return .receive
        }
        guard let proof = defaultProof(to: offers, head) else { return nil }
        return discardBody(of: head) { $0.send(proof, after: head) }
    }

    /// - Returns: what becomes of a head that only wants another nonce; `nil` if it wants more.
    private func renewDigest(_ offers: [AuthenticationOffer], _ head: ResponseHead) -> HeadAnswer? {
        do throws(TransferError) {
            guard let proof = try authentication.proofToRenew(for: offers) else { return nil }
            // The nonce of another realm is as good there as it was.
            let realm = DigestChallenge.first(in: offers)?.realm
            if realm == authentication.digest?.challenge.realm { forget(proof) }
            return discardBody(of: head) { $0.send(proof, after: head) }
        } catch {
            verdict = .fail(error.error(for: hop.url ?? URL(fileURLWithPath: "/")))
            return .refuse
        }
    }

    /// Called from within libcurl, where the room is not lent: it is told right after.
    private func noteAcceptance(_ head: ResponseHead) {
        guard let proof = authentication.proof, let url = hop.url, head.status < 500, head.status != 407
        else {
            return
        }
        let isKnown = authentication.token != nil
        authentication.noteAcceptance(head.fields["Authentication-Info"])
        guard !isKnown else { return }
        let key = memoryKey(proof.credential, url)
        let digest = authentication.digest
        NetworkThread.shared.perform { room in
            room.credentials.note(key, scheme: proof.scheme, for: url, digest: digest)
        }
    }

    private func noteRefusal() {
        if let proof = authentication.proof, authentication.token == nil { forget(proof) }
        authentication.noteRefusal()
    }

    private func forget(_ proof: Authentication.Proof) {
        guard let url = hop.url else { return }
        let key = memoryKey(proof.credential, url)
        let digest = authentication.digest
        NetworkThread.shared.perform { room in
            room.credentials.forget(key, for: url, digest: digest)
        }
    }

    // MARK: - Answers

    /// The proof without a challenge closure: by the caller's credential, then by the storage's.
    private func defaultProof(
        to offers: [AuthenticationOffer],
        _ head: ResponseHead
    ) -> Authentication.Proof? {
        var proof = authentication.defaultProof(to: offers)
        if proof == nil, configuration.settings.shouldUseCredentialStorage, !offers.isEmpty {
            proof = storedProof(to: offers, head)
        }
        return proof
    }

    private func storedProof(to offers: [AuthenticationOffer], _ head: ResponseHead) -> Authentication.Proof?
    {
        guard let challenge = challenge(offers, head) else { return nil }
        let allowed = configuration.settings.authenticationSchemes
        return challenge.storedCredentials(allowed: allowed).lazy
            .compactMap { self.authentication.proof(with: $0, to: offers) }
            .first
    }

    private func challenge(_ offers: [AuthenticationOffer], _ head: ResponseHead) -> AuthenticationChallenge?
    {
        guard let url = hop.url else { return nil }
        return AuthenticationChallenge(
            url: url,
            offers: offers,
            allowed: configuration.settings.authenticationSchemes,
            previousFailureCount: authentication.refused.count,
            response: head.response(for: url)
        )
    }

    private func send(_ proof: Authentication.Proof, after head: ResponseHead) {
        guard canSendBodyAgain else { return endUnsent(head) }
        authentication.send(
            proof,
            to: AuthenticationOffer.offers(in: head.fields.values(for: "WWW-Authenticate"))
        )
        startAgain()
    }

    private func renew(_ token: TokenSource.Token, from source: TokenSource, after head: ResponseHead) {
        guard canSendBodyAgain else { return endUnsent(head) }
        fetchToken(otherThan: token, from: source)
    }

    private func ask(
        _ owner: any ExchangeOwner,
        _ challenge: AuthenticationChallenge,
        _ offers: [AuthenticationOffer],
        _ head: ResponseHead
    ) {
        stopAsking = owner.exchangeNeedsCredential(for: challenge) { [round] answer in
            NetworkThread.shared.perform { room in
                guard self.isAsked(in: round) else { return }
                if let proof = self.proof(in: answer, to: offers, head) {
                    guard self.canSendBodyAgain else {
                        return self.fail(self.unsentBody, after: head, room)
                    }
                    self.goOn(room, after: head) { $0.send(proof, after: head) }
                } else {
                    self.goOnUnanswered(answer, head, room)
                }
            }
        }
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

    private var canSendBodyAgain: Bool {
        hop.httpBody != nil || hop.httpBodyStream == nil || streamedBody?.canStartAgain != false
    }

    /// There is an answer, and nothing left to send with it. The response says why it was needed.
    private func endUnsent(_ head: ResponseHead) {
        tell(head)
        fail(unsentBody)
    }

    private var unsentBody: any Error {
        TransferError.bodyNotRepeatable.error(for: hop.url ?? URL(fileURLWithPath: "/"))
    }

    private func goOnUnanswered(
        _ answer: AuthenticationChallenge.Answer,
        _ head: ResponseHead,
        _ room: NetworkRoom
    ) {
        if case .refuse = answer {
            fail(URLError.refusedAuthentication(url: hop.url), after: head, room)
        } else if let delay = retryDelay(after: head) {
            goOn(room, after: head) { $0.tryAgain(after: delay) }
        } else if !isOutdated(head) || !askForURL(after: head) {
            take(head, room)
        }
    }
}
