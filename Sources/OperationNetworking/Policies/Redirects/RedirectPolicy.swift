import Foundation
import FoundationNetworking

/// Whether redirects are followed, how often, and what goes along
/// ([RFC 9110 §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4)). A value.
///
/// | Status   | Method                                            | Body           |
/// |----------|---------------------------------------------------|----------------|
/// | 301, 302 | POST becomes GET unless ``keepsPost``, others stay | as the method  |
/// | 303      | GET, but HEAD stays                               | dropped        |
/// | 307, 308 | stays                                             | stays          |
///
/// A body that stays goes to another origin, too, as RFC 9110 has it: refuse the redirect to prevent that,
/// here or in `setRedirect(_:)`. Other statuses, and a `Location` that leads nowhere, are the response.
public struct RedirectPolicy: Hashable, Codable, Sendable {
    /// Follows up to 20 redirects, as browsers and Foundation do, and none from https to http.
    public static let follow = RedirectPolicy()

    /// Follows none: each redirect is the response.
    public static let refuse = {
        var policy = RedirectPolicy()
        policy.isFollowing = false
        return policy
    }()

    /// The ``droppedHeaders`` unless they are set: names under which services take keys and tokens, such as
    /// `X-Api-Key`, `Api-Key`, `X-Auth-Token`, `X-Amz-Security-Token`, `X-CSRF-Token`, `Private-Token` and
    /// `X-Vault-Token`. Whole names, in any case; `Idempotency-Key` is not one of them.
    public static let defaultDroppedHeaders: Set<String> = SecretFields.names

    /// Fields that describe a body, and say nothing, or something wrong, about a request that has none
    /// ([RFC 9110 §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4)).
    private static let contentFields: Set<String> = [
        "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location",
        "Content-Range",
        "Content-Disposition", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest", "Last-Modified",
        "Transfer-Encoding", "Trailer", "Expect",
    ]

    /// The caller's name for one origin. Another one has its name in its URL (RFC 9110 §15.4).
    static let originField = "Host"

    private var format = ArchiveFormat()

    /// Whether redirects are followed; a redirect that is not is the response.
    public var isFollowing = true
    /// The number of redirects that are followed; one more is an error, `URLError.httpTooManyRedirects`. A
    /// URL that was asked before is asked again: a cookie, for example, may have changed the answer.
    public var maximumCount: Int
    /// Whether a POST stays a POST after 301 and 302, as in RFC 9110, although browsers do otherwise.
    public var keepsPost = false
    /// Whether a redirect may lead from https to http. If not, it is an error,
    /// `URLError.appTransportSecurityRequiresSecureConnection`, also when a closure of `setRedirect(_:)`
    /// returns it.
    public var allowsDowngrade = false
    /// Names of fields that another origin (another scheme, host or port) must not see, in any case; besides
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and `Host`, which it never sees.
    /// ``defaultDroppedHeaders`` unless something else is set: `insert(_:)` adds a name of your own, and
    /// `remove(_:)` lets one go everywhere.
    ///
    /// They also name the user whom a request is sent as: a ``TransferConfigurable/cache`` gives no response to a
    /// request with another value.
    ///
    /// What was dropped does not come back when a later redirect leads to the first origin.
    public var droppedHeaders: Set<String> {
        get { ownDroppedHeaders ?? Self.defaultDroppedHeaders }
        set { ownDroppedHeaders = newValue == Self.defaultDroppedHeaders ? nil : newValue }
    }
    /// `nil` is the default: a name that a later version adds to it counts for an archive of this one.
    private var ownDroppedHeaders: Set<String>?

    /// - Parameter maximumCount: how many redirects are followed.
    public init(maximumCount: Int = 20) {
        self.maximumCount = maximumCount
    }

    // MARK: - Deciding

    /// Whether the head sends its reader elsewhere.
    static func isRedirect(_ head: ResponseHead) -> Bool {
        switch head.status {
        case 301, 302, 303, 307, 308: head.fields["Location"] != nil
        default: false
        }
    }

    /// The request that follows the redirect.
    ///
    /// - Returns: `nil` when `Location` leads nowhere that can be asked: the redirect is then the response.
    func request(after head: ResponseHead, to request: URLRequest) -> URLRequest? {
        guard let current = request.url, let location = head.location(from: current) else { return nil }
        var redirected = self.request(request, movedTo: location.url)
        let method = (request.httpMethod ?? "GET").uppercased()
        let isRetrieval =
            switch head.status {
            case 301, 302: method == "POST" && !keepsPost
            case 303: true
            default: false
            }
        guard isRetrieval else { return redirected }
        if method != "HEAD" { redirected.httpMethod = "GET" }
        Self.dropBody(of: &redirected)
        return redirected
    }

    /// The same request to another address. Another origin does not see what was meant for this one.
    func request(_ request: URLRequest, movedTo url: URL) -> URLRequest {
        var moved = request
        moved.url = url
        guard let current = request.url, !Self.isSameOrigin(current, url) else { return moved }
        moved.removeFields(SecretFields.credentials.union(droppedHeaders).union([Self.originField]))
        return moved
    }

    /// The fields that a manager's request serializer sends to one origin only. A `Proxy-Authorization` is
    /// for the proxy, whatever the origin.
    var fieldsOfOneOrigin: Set<String> {
        SecretFields.credentials.subtracting(["Proxy-Authorization"]).union(droppedHeaders)
            .union([Self.originField])
    }

    /// The names that the app has added to those that the library knows.
    package var ownSecretFields: Set<String> { ownDroppedHeaders ?? [] }

    /// The values of `Location`, if there are several that differ: their meaning is then unknown.
    static func conflict(in head: ResponseHead) -> [String]? {
        let values = head.fields.values(for: "Location")
        return Set(values).count > 1 ? values : nil
    }

    /// Whether the redirect leads from a URL with TLS to one without.
    static func isDowngrade(from first: URL?, to second: URL?) -> Bool {
        first?.scheme?.lowercased() == "https" && second?.scheme?.lowercased() == "http"
    }

    /// Same scheme, host and port (RFC 9110 §4.3.1), default ports included.
    static func isSameOrigin(_ first: URL, _ second: URL) -> Bool {
        Origin(first) == Origin(second)
    }

    private static func dropBody(of request: inout URLRequest) {
        request.httpBody = nil
        request.httpBodyStream = nil
        request.removeFields(contentFields)
    }
}
