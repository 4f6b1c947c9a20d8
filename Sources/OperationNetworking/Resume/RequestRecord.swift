internal import Foundation
internal import FoundationNetworking

/// The parts of a request that select its response's bytes: enough to tell later whether another one asks for
/// the same.
///
/// No field is written down that is, or looks like, a secret: only its name.
struct RequestRecord: Hashable, Codable, Sendable {
    /// The address that the caller gave, without the fragment.
    let url: String
    let method: String
    /// Whether it had a body (P15).
    let hasBody: Bool
    /// The fields that may select one of several representations, by lowercase name; `host` only if it names
    /// another site than the URL does ([RFC 9110 §7.2](https://www.rfc-editor.org/rfc/rfc9110#section-7.2)).
    let selectingFields: [String: String]
    /// The lowercase names of the fields whose values are not written down, sorted.
    let secretFields: [String]

    /// `identity` is whom it is sent as: the app's own names of fields that say so are known to that alone.
    init(_ request: URLRequest, as identity: RequestIdentity = .none) {
        url = RequestRecord.address(of: request)
        method = request.httpMethod ?? "GET"
        hasBody = !(request.httpBody ?? Data()).isEmpty || request.httpBodyStream != nil
        var selecting: [String: String] = [:]
        var secret: [String] = []
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            let name = name.lowercased()
            if SecretFields.namesUser(name) || identity.hasField(name) {
                secret.append(name)
            } else if name == RequestRecord.hostField {
                selecting[name] = RequestRecord.site(value, otherThan: request.url)
            } else if RequestRecord.selects(name) {
                selecting[name] = value
            }
        }
        selectingFields = selecting
        secretFields = secret.sorted()
    }

    /// The request, without the fields that were not written down; `nil` if its address is none, or if it had
    /// a body, which is not written down either: without it, it would be another request.
    var request: URLRequest? {
        guard !hasBody, let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = selectingFields
        return request
    }

    /// Whether this request is sent without TLS, and `other` is not.
    func isDowngrade(from other: RequestRecord) -> Bool {
        URL(string: other.url)?.isTLS == true && URL(string: url)?.isTLS != true
    }

    /// The text for ``RequestDigests/location``.
    var location: String {
        Self.location(of: url).text + (selectingFields[Self.hostField].map { "\n\($0)" } ?? "")
    }

    /// The text for ``RequestDigests/selection``.
    var selection: String {
        let fields = selectingFields.filter { $0.key != Self.hostField }.sorted { $0.key < $1.key }
        return ([method, hasBody ? "body" : ""] + fields.map { "\($0.key): \($0.value)" })
            .joined(separator: "\n")
    }

    /// The query; `nil` if there is none.
    var query: String? { Self.location(of: url).query }

    /// Whether an address has the same scheme, host, port and path.
    func isAt(_ address: URL) -> Bool {
        let (own, other) = (Self.location(of: url).text, Self.location(of: address.absoluteString).text)
        return own.utf8.elementsEqual(other.utf8)
    }

    /// An address without its query, and the query. Default ports are filled in; percent-encoded octets are not
    /// decoded.
    private static func location(of url: String) -> (text: String, query: String?) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased() else {
            return (url, nil)
        }
        let port = parts.port ?? (scheme == "https" ? 443 : 80)
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        return ("\(scheme)://\(parts.host?.lowercased() ?? ""):\(port)\(path)", parts.percentEncodedQuery)
    }

    private static func address(of request: URLRequest) -> String {
        let text = request.url?.withoutUserInformation.absoluteString ?? ""
        return text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first.map(
            String.init
        ) ?? ""
    }

    /// The `Host` in lower case, without the default port of the scheme; `nil` if that is what the URL says.
    private static func site(_ host: String, otherThan url: URL?) -> String? {
        let isTLS = url?.scheme?.lowercased() == "https"
        func withoutDefaultPort(_ site: String) -> String {
            let port = isTLS ? ":443" : ":80"
            return site.hasSuffix(port) ? String(site.dropLast(port.count)) : site
        }
        let site = withoutDefaultPort(host.lowercased())
        guard let name = url?.host?.lowercased() else { return site }
        let address = name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
        let own = withoutDefaultPort(address + (url?.port.map { ":\($0)" } ?? ""))
        return site.utf8.elementsEqual(own.utf8) ? nil : site
    }

    private static let hostField = "host"

    /// Whether the field may say which representation is wanted, whatever the server's `Vary` says; not if it
    /// has another value in each request.
    static func selects(_ name: String) -> Bool {
        if name.hasPrefix("if-") || name.hasPrefix("sec-") || name.hasPrefix("proxy-") { return false }
        return !unselectingFields.contains(name) && !SecretFields.marksMessage(name)
    }

    private static let unselectingFields: Set<String> = [
        "accept-encoding", "cache-control", "connection", "content-length", "content-type", "date", "expect",
        "keep-alive", "origin", "pragma", "priority", "referer", "te",
        "transfer-encoding", "upgrade", "user-agent", "via",
    ]
}
