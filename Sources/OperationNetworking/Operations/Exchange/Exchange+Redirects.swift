import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Redirects: where the next transfer goes.
extension Exchange {
    /// Decides about a redirect. Called inside a libcurl callback.
    func judgeRedirect(_ head: ResponseHead) -> Machine.Decision {
        let policy = configuration.settings.redirectPolicy
        if let locations = RedirectPolicy.conflict(in: head) {
            return .proceed(.fail(URLError.conflictingLocations(locations, url: route.hopURL)))
        }
        guard let url = route.hopURL, let response = head.response(for: url),
            let next = policy.request(after: head, to: route.sentHop)
        else { return takeForResponse(head) }
        guard route.redirectCount < policy.maximumCount else {
            return .proceed(.fail(URLError.tooManyRedirects(policy.maximumCount, url: url)))
        }
        guard let owner, owner.exchangeAnswersRedirects else {
            return proceed(.follow(response, to: next, from: url), after: head)
        }
        // No byte of the body is kept or decoded in vain.
        ask(.redirect(response, to: next, from: url), after: head)
        return .askFirst(keeping: configuration.sideBodyLimit)
    }

    func follow(_ redirect: HTTPURLResponse, to request: URLRequest, from url: URL) {
        // A closure that only inspects a redirect has not allowed a downgrade.
        guard
            configuration.settings.redirectPolicy.allowsDowngrade
                || !RedirectPolicy.isDowngrade(from: url, to: request.url)
        else { return fail(URLError.insecure(url: request.url)) }
        route.follow(ExchangeRoute.Redirect(response: redirect, request: request))
        beginHop()
        startAgain()
    }

    /// The request to the owner for another address; `nil` if there is none.
    ///
    /// Made if the response means that the address is no longer valid (S42), and only once until a byte has
    /// arrived from the new one.
    func addressQuestion(after head: ResponseHead) -> Question? {
        guard configuration.refreshesURL, !route.hasFreshURL, [401, 403, 404, 410].contains(head.status),
            owner != nil, let url = route.hopURL, let response = head.response(for: url)
        else { return nil }
        return .address(response)
    }

    /// Requests the file from another address.
    func move(to url: URL) {
        guard !RedirectPolicy.isDowngrade(from: route.request.url, to: url) else {
            return fail(URLError.insecure(url: url))
        }
        route.move(to: url, by: configuration.settings.redirectPolicy)
        wait { (exchange, _: Void, network) in exchange.startFromFirstHop(network) }(())
    }
}
