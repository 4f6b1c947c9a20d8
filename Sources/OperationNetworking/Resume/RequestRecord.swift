internal import Foundation
internal import FoundationNetworking

/// The parts of a request that determine which bytes the response contains.
///
/// Values of fields that are, or look like, secrets are not stored, only their names.
struct RequestRecord: Hashable, Codable, Sendable {
    /// The caller's URL without its fragment.
    private(set) var url: String
    /// Whether the URL had a query that is left out; `nil` means no.
    private(set) var withholdsQuery: Bool?
    let method: String
    /// Whether the request had a body (P15).
    let hasBody: Bool
    /// The fields that may select one of several representations, by lowercase name; `host` only if it names another
    /// site than the URL ([RFC 9110 §7.2](https://www.rfc-editor.org/rfc/rfc9110#section-7.2)).
    let selectingFields: [String: String]
    /// The lowercase names of the fields whose values are not stored, sorted.
    let secretFields: [String]

    /// - Parameters:
    ///   - request: the request.
    ///   - identity: the credentials that it is sent with, including the fields that only the app lists as secret.
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

    /// The request without the fields that were not stored; `nil` if the URL is invalid, or if the request had a
    /// body, without which it would be another request.
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

    /// The same without the query.
    var withoutQuery: RequestRecord {
        var record = self
        record.url = url.withoutQuery
        if record.url != url { record.withholdsQuery = true }
        return record
    }

    /// The text for ``RequestDigests/location``.
    var location: String {
        let fields = [Self.hostField, "accept"].map { name in
            selectingFields[name].map { "\(name): \($0)" } ?? ""
        }
        return ([method, Self.location(of: url).text] + fields).joined(separator: "\n")
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

    /// Returns the `Host` in lower case and without the scheme's default port; `nil` if it is that of the URL.
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

    /// Whether the field may select a representation, whatever the server's `Vary` says. Fields that differ in each
    /// request do not.
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

extension String {
    /// The part of a URL, or of a reference, before its query.
    var withoutQuery: String { String(Substring(utf8.prefix { $0 != UInt8(ascii: "?") })) }
}
