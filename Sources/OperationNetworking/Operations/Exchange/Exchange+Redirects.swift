import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Redirects: where the next transfer goes.
extension Exchange {
    /// Called from within libcurl, by which a redirect came.
    func judgeRedirect(_ head: ResponseHead) -> HeadAnswer {
        let policy = configuration.settings.redirectPolicy
        if let locations = RedirectPolicy.conflict(in: head) {
            verdict = .fail(URLError.conflictingLocations(locations, url: hop.url))
            return .refuse
        }
        guard let url = hop.url, let response = head.response(for: url),
            let next = policy.request(after: head, to: hop)
        else { return takeForResponse(head) }
        guard redirectCount < policy.maximumCount else {
            verdict = .fail(URLError.tooManyRedirects(policy.maximumCount, url: url))
            return .refuse
        }
        guard let owner, owner.exchangeAnswersRedirects else {
            return discardBody(of: head) { $0.follow(response, to: next, from: url) }
        }
        // Not a byte of it is kept, or decoded, in vain.
        beginAsking(.keepAside(configuration.sideBodyLimit))
        owner.exchangeWillFollow(response, to: next) { [round] answer in
            NetworkThread.shared.perform { room in
                guard self.isAsked(in: round) else { return }
                let request: URLRequest
                switch answer {
                case .refuse: return self.take(head, room)
                case .follow(let chosen): request = chosen
                }
                self.goOn(room, after: head) { $0.follow(response, to: request, from: url) }
            }
        }
        return .later
    }

    private func follow(_ redirect: HTTPURLResponse, to request: URLRequest, from url: URL) {
        // A closure that only looks at a redirect has not allowed that.
        guard
            configuration.settings.redirectPolicy.allowsDowngrade
                || !RedirectPolicy.isDowngrade(from: url, to: request.url)
        else { return fail(URLError.insecure(url: request.url)) }
        untoldRedirect = (redirect, request)
        hop = request
        streamedBody = streamedBody(of: request)
        redirectCount += 1
        beginHop()
        startAgain()
    }

    /// Whether the response means that the address is no good any more, and the owner may know another (S42).
    func isOutdated(_ head: ResponseHead) -> Bool {
        configuration.refreshesURL && !hasFreshURL && [401, 403, 404, 410].contains(head.status)
    }

    /// Asks for the address that the same file has now; once, until a byte has come from there. The answer is
    /// awaited as after ``beginAsking(_:)``.
    /// - Returns: false if no one can be asked.
    func askForURL(after head: ResponseHead) -> Bool {
        guard let owner, let url = hop.url, let response = head.response(for: url) else { return false }
        owner.exchangeNeedsURL(after: response) { [round] url in
            NetworkThread.shared.perform { room in
                guard self.isAsked(in: round) else { return }
                guard let url else { return self.take(head, room) }
                self.goOn(room, after: head) { $0.startAgain(at: url) }
            }
        }
        return true
    }

    private func startAgain(at url: URL) {
        guard !RedirectPolicy.isDowngrade(from: request.url, to: url) else {
            return fail(URLError.insecure(url: url))
        }
        hasFreshURL = true
        request = configuration.settings.redirectPolicy.request(request, movedTo: url)
        phase = .idle
        NetworkThread.shared.perform { [round] room in
            guard self.round == round, case .idle = self.phase else { return }
            self.startFromFirstHop(room)
        }
    }

    /// The reader of the stream, which knows whether it was used; a new one if a redirect closure put the
    /// stream in.
    private func streamedBody(of request: URLRequest) -> RequestBody? {
        guard let stream = request.httpBodyStream else { return nil }
        for known in [streamedBody, configuration.body] {
            if case .stream(let body) = known, body.reads(stream) { return known }
        }
        return BodyStream(of: request).map { .stream($0) }
    }
}
