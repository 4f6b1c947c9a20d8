import Foundation
import FoundationNetworking

/// Whether and how often redirects are followed, and which fields are sent along ([RFC 9110
/// §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4)).
///
/// | Status   | Method                                                 | Body                        |
/// |----------|--------------------------------------------------------|-----------------------------|
/// | 301, 302 | POST becomes GET unless ``keepsPost``; others are kept | dropped if POST becomes GET |
/// | 303      | GET; HEAD is kept                                      | dropped                     |
/// | 307, 308 | kept                                                   | kept                        |
///
/// A response with another status, or with a `Location` that cannot be followed, is the result. Several
/// different `Location` fields are an error, `URLError.badServerResponse`.
///
/// | Part of the request                                       | To the same origin | To another origin      |
/// |-----------------------------------------------------------|--------------------|------------------------|
/// | `Authorization`, `Cookie`, `Proxy-Authorization`, `Host`  | sent               | dropped                |
/// | fields of ``droppedHeaders``                              | sent               | dropped                |
/// | fields that a ``RequestAdapter`` added                    | added again        | dropped                |
/// | `user:password@` of the request's URL                     | sent               | dropped                |
/// | `user:password@` of a `Location`                          | dropped            | dropped                |
/// | other fields, and a body that stays                       | sent               | sent                   |
///
/// Each redirect starts from the request before it, so what was dropped stays dropped. To keep a body from
/// another origin, refuse the redirect, here or in `setRedirect(_:)`.
public struct RedirectPolicy: Hashable, Codable, Sendable {
    /// Follows up to 20 redirects, as browsers and Foundation do, but none from https to http. The default.
    public static let follow = RedirectPolicy()

    /// Follows no redirects: a redirect is the response.
    public static let refuse = {
        var policy = RedirectPolicy()
        policy.isFollowing = false
        return policy
    }()

    /// The default of ``droppedHeaders``: fields in which services expect keys and tokens, such as
    /// `X-Api-Key`, `Api-Key`, `X-Auth-Token`, `X-Amz-Security-Token`, `X-CSRF-Token`, `Private-Token` and
    /// `X-Vault-Token`. Case-insensitive, whole names; `Idempotency-Key` is not one of them.
    public static let defaultDroppedHeaders: Set<String> = SecretFields.names

    /// Fields that describe a body and are meaningless or wrong in a request without one ([RFC 9110
    /// §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4)).
    private static let contentFields: Set<String> = [
        "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location",
        "Content-Range",
        "Content-Disposition", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest", "Last-Modified",
        "Transfer-Encoding", "Trailer", "Expect",
    ]

    /// Set by the caller for one origin. For another origin it follows from the URL (RFC 9110 §15.4).
    static let originField = "Host"

    private var format = ArchiveFormat()

    /// Whether redirects are followed. If not, the redirect is the response. Defaults to true.
    public var isFollowing = true
    /// The maximum number of redirects. One more fails with `URLError.httpTooManyRedirects`. A URL may be
    /// requested again: a cookie, for example, may have changed the answer.
    public var maximumCount: Int
    /// Whether POST is kept after 301 and 302, which RFC 9110 permits and browsers do not do. Defaults to
    /// false.
    public var keepsPost = false
    /// Whether a redirect may lead from https to http. If not (the default), it fails with
    /// `URLError.appTransportSecurityRequiresSecureConnection`, even if the closure of `setRedirect(_:)`
    /// returned the request.
    public var allowsDowngrade = false
    /// The names (case-insensitive) of fields that are removed when a redirect leads to another origin
    /// (scheme, host or port). `Authorization`, `Cookie`, `Proxy-Authorization` and `Host` are always
    /// removed. Defaults to ``defaultDroppedHeaders``: `insert(_:)` adds your own name, and `remove(_:)` lets
    /// a field be sent to every origin.
    ///
    /// These fields are also part of a request's identity: a ``TransferConfigurable/cache`` does not return a
    /// response to a request with a different value.
    ///
    /// A removed field is not restored if a later redirect leads back to the first origin.
    public var droppedHeaders: Set<String> {
        get { ownDroppedHeaders ?? Self.defaultDroppedHeaders }
        set { ownDroppedHeaders = newValue == Self.defaultDroppedHeaders ? nil : newValue }
    }
    /// `nil` means the default, so that names that a later version adds apply to archives of this one.
    private var ownDroppedHeaders: Set<String>?

    /// - Parameter maximumCount: the maximum number of redirects.
    public init(maximumCount: Int = 20) {
        self.maximumCount = maximumCount
    }

    // MARK: - Deciding

    /// Whether the head is a redirect.
    static func isRedirect(_ head: ResponseHead) -> Bool {
        switch head.status {
        case 301, 302, 303, 307, 308: head.fields["Location"] != nil
        default: false
        }
    }

    /// Returns the request that follows the redirect.
    ///
    /// - Returns: `nil` if `Location` has no usable target: the redirect is then the response.
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

    /// Returns the request with another URL. For another origin, secret fields are removed.
    func request(_ request: URLRequest, movedTo url: URL) -> URLRequest {
        var moved = request
        moved.url = url
        guard let current = request.url, !Self.isSameOrigin(current, url) else { return moved }
        moved.removeFields(SecretFields.credentials.union(droppedHeaders).union([Self.originField]))
        return moved
    }

    /// The fields that a manager's request serializer sends to one origin only. `Proxy-Authorization` is for
    /// the proxy and goes with every origin.
    var fieldsOfOneOrigin: Set<String> {
        SecretFields.credentials.subtracting(["Proxy-Authorization"]).union(droppedHeaders)
            .union([Self.originField])
    }

    /// The names that the app has set instead of the default; empty if it has not.
    package var ownSecretFields: Set<String> { ownDroppedHeaders ?? [] }

    /// The values of `Location` if they differ, which makes the redirect ambiguous.
    static func conflict(in head: ResponseHead) -> [String]? {
        let values = head.fields.values(for: "Location")
        return Set(values).count > 1 ? values : nil
    }

    /// Whether the redirect leads from https to http.
    static func isDowngrade(from first: URL?, to second: URL?) -> Bool {
        first?.scheme?.lowercased() == "https" && second?.scheme?.lowercased() == "http"
    }

    /// Whether scheme, host and port are equal (RFC 9110 §4.3.1), with default ports filled in.
    static func isSameOrigin(_ first: URL, _ second: URL) -> Bool {
        Origin(first) == Origin(second)
    }

    private static func dropBody(of request: inout URLRequest) {
        request.httpBody = nil
        request.httpBodyStream = nil
        request.removeFields(contentFields)
    }
}
