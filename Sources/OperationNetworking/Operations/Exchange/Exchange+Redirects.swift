import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Redirects: where the next transfer goes.
extension Exchange {
    /// Called from within libcurl, by which a redirect came.
    func judgeRedirect(_ head: ResponseHead) -> Machine.Decision {
        let policy = configuration.settings.redirectPolicy
        if let locations = RedirectPolicy.conflict(in: head) {
            return .goOn(.fail(URLError.conflictingLocations(locations, url: route.hopURL)))
        }
        guard let url = route.hopURL, let response = head.response(for: url),
            let next = policy.request(after: head, to: route.sentHop)
        else { return takeForResponse(head) }
        guard route.redirectCount < policy.maximumCount else {
            return .goOn(.fail(URLError.tooManyRedirects(policy.maximumCount, url: url)))
        }
        guard let owner, owner.exchangeAnswersRedirects else {
            return goOn(.follow(response, to: next, from: url), after: head)
        }
        // Not a byte of it is kept, or decoded, in vain.
        ask(.redirect(response, to: next, from: url), after: head)
        return .askFirst(keeping: configuration.sideBodyLimit)
    }

    func follow(_ redirect: HTTPURLResponse, to request: URLRequest, from url: URL) {
        // A closure that only looks at a redirect has not allowed that.
        guard
            configuration.settings.redirectPolicy.allowsDowngrade
                || !RedirectPolicy.isDowngrade(from: url, to: request.url)
        else { return fail(URLError.insecure(url: request.url)) }
        route.follow(ExchangeRoute.Redirect(response: redirect, request: request))
        beginHop()
        startAgain()
    }

    /// The question for another address; `nil`: none is asked.
    ///
    /// It is asked when the response means that the address is no good any more (S42), and only once until a
    /// byte has come from the new one.
    func questionOfAddress(after head: ResponseHead) -> Question? {
        guard configuration.refreshesURL, !route.hasFreshURL, [401, 403, 404, 410].contains(head.status),
            owner != nil, let url = route.hopURL, let response = head.response(for: url)
        else { return nil }
        return .address(response)
    }

    /// The file is asked for at another address.
    func move(to url: URL) {
        guard !RedirectPolicy.isDowngrade(from: route.request.url, to: url) else {
            return fail(URLError.insecure(url: url))
        }
        route.move(to: url, by: configuration.settings.redirectPolicy)
        wait { (exchange, _: Void, network) in exchange.startFromFirstHop(network) }(())
    }
}
