import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Authentication: what a 401 leads to.
extension Exchange {
    /// Answers to one request that a server may refuse; somebody who has more does not have the right one.
    private static let maximumRefusals = 20
    /// Bytes of a 401's body that are received although nobody needs them: another connection would cost more.
    private static let maximumUnusedBody = 64 * 1024

    /// Bytes that are kept of a 401's body while somebody is asked.
    private static let maximumQuestionBody: Int64 = 1024 * 1024

    /// What follows a 401.
    enum AuthenticationStep {
        /// The same request, with this.
        case send(Authentication.Proof, ResponseHead)
        /// The same request, with another token than this one.
        case renew(TokenSource.Token, ResponseHead)
        /// What somebody answers.
        case ask([AuthenticationOffer], ResponseHead)
    }

    /// What may be kept of the body that is coming.
    var sideBodyLimit: Int64 {
        guard case .authenticate(.ask) = verdict else { return configuration.sideBodyLimit }
        return min(configuration.sideBodyLimit, Self.maximumQuestionBody)
    }

    // MARK: - Before a transfer

    /// The hop has another address now, or everything begins again. What its URL says about who asks is taken out of it:
    /// nobody else needs to see that.
    func beginHop() {
        let information = hop.url?.userInformation
        if let url = hop.url, url.user != nil || url.password != nil { hop.url = url.withoutUserInformation }
        authentication.begin(
            hop.url,
            credential: information.map { Credential(user: $0.user, password: $0.password) }
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
    func authenticateInAdvance(_ transfers: Transfers) {
        guard authentication.proof == nil, authentication.refused.isEmpty, let url = hop.url,
            hop.value(forHTTPHeaderField: "Authorization") == nil
        else { return }
        for credential in authentication.knownCredentials {
            let key = memoryKey(credential, url)
            guard let scheme = transfers.authenticationMemory.scheme(for: key, to: url),
                configuration.settings.authenticationSchemes.contains(scheme),
                !scheme.isAnsweredByCurl || canAskWithoutBody
            else { continue }
            return authentication.send(Authentication.Proof(credential: credential, scheme: scheme))
        }
    }

    /// libcurl first asks without the body. A server that has changed its mind would take that for the whole request: so
    /// not unless the body could not be sent a second time anyway.
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
        sink.settle()
        source.token(otherThan: refused) { [round] result in
            NetworkThread.shared.perform { transfers in
                guard self.round == round, case .deciding = self.phase else { return }
                switch result {
                case .success(let token):
                    self.authentication.send(token)
                    self.startTransfer(transfers)
                case .failure(let error):
                    self.fail(error)
                }
            }
        }
    }

    // MARK: - After a head

    /// Called from within libcurl. Whether the head is no response yet, but a question.
    func isChallenge(_ head: ResponseHead) -> Bool {
        guard head.status == 401 else {
            noteAcceptance(head)
            return false
        }
        noteRefusal()
        guard authentication.refused.count < Self.maximumRefusals else { return false }
        if let token = authentication.tokenToRenew() {
            verdict = .authenticate(.renew(token, head))
            bodyUse = .discard(Self.maximumUnusedBody)
            return true
        }
        let offers = AuthenticationOffer.offers(in: head.fields.values(for: "WWW-Authenticate"))
        if owner?.exchangeAnswersChallenges == true {
            verdict = .authenticate(.ask(offers, head))
            bodyUse = .keepAside
            return true
        }
        guard let proof = defaultProof(to: offers, head) else { return false }
        verdict = .authenticate(.send(proof, head))
        bodyUse = .discard(Self.maximumUnusedBody)
        return true
    }

    /// Called from within libcurl, where nobody is lent the transfers: they hear of it right after.
    private func noteAcceptance(_ head: ResponseHead) {
        guard let proof = authentication.proof, let url = hop.url, head.status < 500, head.status != 407
        else {
            return
        }
        let isKnown = authentication.token != nil
        authentication.noteAcceptance()
        guard !isKnown else { return }
        let key = memoryKey(proof.credential, url)
        NetworkThread.shared.perform { transfers in
            transfers.authenticationMemory.note(key, scheme: proof.scheme, for: url)
        }
    }

    private func noteRefusal() {
        if let proof = authentication.proof, let url = hop.url, authentication.token == nil {
            let key = memoryKey(proof.credential, url)
            NetworkThread.shared.perform { transfers in
                transfers.authenticationMemory.forget(key, for: url)
            }
        }
        authentication.noteRefusal()
    }

    // MARK: - Answers

    /// What is done when nobody says otherwise: the caller's credential, then the storage's.
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

    /// The transfer that brought the 401 has ended.
    func authenticate(_ step: AuthenticationStep, after end: TransferEnd) {
        switch step {
        case .send(let proof, let head):
            guard canSendBodyAgain else { return endUnsent(head) }
            authentication.send(proof)
            startAgain()
        case .renew(let token, let head):
            guard let source = configuration.settings.tokenSource else { return }
            guard canSendBodyAgain else { return endUnsent(head) }
            fetchToken(otherThan: token, from: source)
        case .ask(let offers, let head):
            ask(offers, head, end)
        }
    }

    private func ask(_ offers: [AuthenticationOffer], _ head: ResponseHead, _ end: TransferEnd) {
        guard let owner, let challenge = challenge(offers, head) else { return takeForResponse(head) }
        phase = .deciding
        stopAsking = owner.exchangeNeedsCredential(for: challenge) { [round] answer in
            NetworkThread.shared.perform { transfers in
                guard self.round == round, case .deciding = self.phase else { return }
                self.stopAsking = nil
                guard let proof = self.proof(in: answer, to: offers, head) else {
                    return self.endUnanswered(answer, head, end)
                }
                guard self.canSendBodyAgain else { return self.endUnsent(head) }
                self.authentication.send(proof)
                self.startTransfer(transfers)
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
        fail(TransferError.bodyNotRepeatable.error(for: hop.url ?? URL(fileURLWithPath: "/")))
    }

    private func endUnanswered(
        _ answer: AuthenticationChallenge.Answer,
        _ head: ResponseHead,
        _ end: TransferEnd
    ) {
        if case .refuse = answer {
            tell(head)
            fail(URLError.refusedAuthentication(url: hop.url))
        } else if let error = end.error, !error.isRefusal {
            tryAgain(after: error.error(for: hop.url ?? URL(fileURLWithPath: "/")))
        } else if let delay = retryDelay(after: head) {
            tryAgain(after: delay)
        } else if isOutdated(head) {
            askForURL(after: head)
        } else {
            takeForResponse(head)
        }
    }
}

extension TransferError {
    /// Whether the rest of the body was not wanted.
    fileprivate var isRefusal: Bool {
        guard case .client(let error) = self, case .refused? = error as? TransferError else { return false }
        return true
    }
}
