import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Redirects: where the next transfer goes.
extension Exchange {
    func follow(_ head: ResponseHead) {
        guard let url = hop.url, let response = head.response(for: url),
            let next = RedirectPolicy.request(after: head, to: hop)
        else { return takeForResponse(head) }
        guard redirectCount < RedirectPolicy.maximumCount else {
            return fail(
                URLError(
                    .httpTooManyRedirects,
                    url: url,
                    sentence: "The server redirected more than \(RedirectPolicy.maximumCount) times."
                )
            )
        }
        if configuration.staysSecure, RedirectPolicy.isDowngrade(from: url, to: next.url) {
            return fail(URLError.insecure(url: next.url))
        }
        phase = .deciding
        owner?.exchangeWillFollow(response, to: next) { [round] request in
            NetworkThread.shared.perform { transfers in
                guard self.round == round, case .deciding = self.phase else { return }
                guard let request else { return self.takeForResponse(head) }
                self.go(on: request, transfers)
                switch self.phase {
                case .transferring, .idle: self.owner?.exchangeDidFollow(response, to: request)
                // It failed, or is complete without a transfer.
                case .opening, .deciding, .finishing, .stopping, .ended: break
                }
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
                self.request = RedirectPolicy.request(self.request, movedTo: url)
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
