import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Redirects: where the next transfer goes.
extension Exchange {
    func follow(_ head: ResponseHead) {
        let policy = configuration.settings.redirectPolicy
        if let locations = RedirectPolicy.conflict(in: head) {
            return fail(URLError.conflictingLocations(locations, url: hop.url))
        }
        guard let url = hop.url, let response = head.response(for: url),
            let next = policy.request(after: head, to: hop)
        else { return takeForResponse(head) }
        guard redirectCount < policy.maximumCount else {
            return fail(URLError.tooManyRedirects(policy.maximumCount, url: url))
        }
        phase = .deciding
        owner?.exchangeWillFollow(response, to: next) { [round] answer in
            NetworkThread.shared.perform { transfers in
                guard self.round == round, case .deciding = self.phase else { return }
                let request: URLRequest
                switch answer {
                case .refuse: return self.takeForResponse(head)
                case .follow(let chosen): request = chosen
                case .unseen: request = next
                }
                // Whoever only looks at a redirect has not allowed that.
                guard policy.allowsDowngrade || !RedirectPolicy.isDowngrade(from: url, to: request.url) else {
                    return self.fail(URLError.insecure(url: request.url))
                }
                self.untoldRedirect = (response, request)
                self.go(on: request, transfers)
            }
        }
    }

    /// Whether the response means that the address is no good any more, and somebody knows better (S42).
    func isOutdated(_ head: ResponseHead) -> Bool {
        configuration.refreshesURL && !hasFreshURL && [401, 403, 404, 410].contains(head.status)
    }

    /// Asks for the address that the same file has now; once, until a byte has come from there.
    func askForURL(after head: ResponseHead) {
        guard let url = hop.url, let response = head.response(for: url) else { return takeForResponse(head) }
        phase = .deciding
        owner?.exchangeNeedsURL(after: response) { [round] url in
            NetworkThread.shared.perform { transfers in
                guard self.round == round, case .deciding = self.phase else { return }
                guard let url else { return self.takeForResponse(head) }
                guard !RedirectPolicy.isDowngrade(from: self.request.url, to: url) else {
                    return self.fail(URLError.insecure(url: url))
                }
                self.hasFreshURL = true
                self.request = self.configuration.settings.redirectPolicy.request(self.request, movedTo: url)
                self.startFromFirstHop(transfers)
            }
        }
    }

    private func go(on request: URLRequest, _ transfers: Transfers) {
        hop = request
        streamedBody = streamedBody(of: request)
        redirectCount += 1
        beginHop()
        startTransfer(transfers)
    }

    /// What reads the stream, and knows whether it was used; a new one if a redirect closure put the stream in.
    private func streamedBody(of request: URLRequest) -> RequestBody? {
        guard let stream = request.httpBodyStream else { return nil }
        for known in [streamedBody, configuration.body] {
            if case .stream(let body) = known, body.reads(stream) { return known }
        }
        return BodyStream(of: request).map { .stream($0) }
    }

    /// Nobody goes on: the head is the answer.
    func takeForResponse(_ head: ResponseHead) {
        tell(head)
        finish()
    }
}
