import Foundation
import FoundationNetworking

/// Where a redirect leads, and what may go there: a pure decision
/// ([RFC 9110 §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4)).
enum RedirectPolicy {
    /// As in browsers and in Foundation.
    static let maximumCount = 20

    /// Fields that say who somebody is. They were meant for one origin, and another one must not see them.
    static let credentialFields = ["Authorization", "Cookie", "Proxy-Authorization"]

    /// What the caller calls one origin. Another one has its name in its URL (RFC 9110 §15.4).
    static let originField = "Host"

    /// Whether the head sends its reader elsewhere.
    static func isRedirect(_ head: ResponseHead) -> Bool {
        switch head.status {
        case 301, 302, 303, 307, 308: head.fields["Location"] != nil
        default: false
        }
    }

    /// The request that follows the redirect.
    ///
    /// | Status   | Method                                     | Body    |
    /// |----------|--------------------------------------------|---------|
    /// | 301, 302 | POST becomes GET, others stay              | as they |
    /// | 303      | GET, but HEAD stays                        | dropped |
    /// | 307, 308 | stays                                      | stays   |
    ///
    /// - Returns: `nil` when `Location` leads nowhere that can be asked: the redirect is then the response.
    static func request(after head: ResponseHead, to request: URLRequest) -> URLRequest? {
        guard let current = request.url, let location = head.fields["Location"],
            // A server may not say who its reader is.
            var next = URL(string: location, relativeTo: current)?.absoluteURL.withoutUserInformation,
            let scheme = next.scheme?.lowercased(), scheme == "http" || scheme == "https", next.host != nil
        else { return nil }
        // RFC 9110 §10.2.2: a fragment is inherited by a Location without one.
        if next.fragment == nil, let fragment = current.fragment(percentEncoded: true) {
            var components = URLComponents(url: next, resolvingAgainstBaseURL: true)
            components?.percentEncodedFragment = fragment
            next = components?.url ?? next
        }
        var redirected = Self.request(request, movedTo: next)
        let method = (request.httpMethod ?? "GET").uppercased()
        let becomesGet =
            switch head.status {
            case 301, 302: method == "POST"
            case 303: method != "GET" && method != "HEAD"
            default: false
            }
        if becomesGet { dropBody(of: &redirected) }
        return redirected
    }

    /// The same request to another address. Another origin does not see what was meant for this one.
    static func request(_ request: URLRequest, movedTo url: URL) -> URLRequest {
        var moved = request
        moved.url = url
        guard let current = request.url, !isSameOrigin(current, url) else { return moved }
        for name in credentialFields + [originField] { moved.setValue(nil, forHTTPHeaderField: name) }
        return moved
    }

    /// Whether somebody who asked over TLS would ask without it.
    static func isDowngrade(from first: URL?, to second: URL?) -> Bool {
        first?.scheme?.lowercased() == "https" && second?.scheme?.lowercased() == "http"
    }

    /// Same scheme, host and port (RFC 9110 §4.3.1), default ports included.
    static func isSameOrigin(_ first: URL, _ second: URL) -> Bool {
        Origin(first) == Origin(second)
    }

    private static func dropBody(of request: inout URLRequest) {
        request.httpMethod = "GET"
        request.httpBody = nil
        request.httpBodyStream = nil
        for name in [
            "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Transfer-Encoding",
        ] {
            request.setValue(nil, forHTTPHeaderField: name)
        }
    }
}
