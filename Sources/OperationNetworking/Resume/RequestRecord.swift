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

    /// Whether both have the same target resource: address and site
    /// ([RFC 9110 §7.1](https://www.rfc-editor.org/rfc/rfc9110#section-7.1)).
    func hasSameTarget(as other: RequestRecord) -> Bool {
        func site(_ record: RequestRecord) -> [UInt8]? {
            record.selectingFields[Self.hostField].map { Array($0.utf8) }
        }
        return url == other.url && site(self) == site(other)
    }

    /// Whether both have the same scheme, host, port and path: one resource of one server, whatever the query
    /// says.
    func hasSameLocation(as other: RequestRecord) -> Bool {
        url == other.url || location != nil && location == other.location
    }

    /// Whether this request goes to a server without TLS, and `other` does not.
    func isDowngrade(from other: RequestRecord) -> Bool {
        other.location?.scheme == "https" && location?.scheme != "https"
    }

    /// An address without its query.
    private struct Location: Hashable {
        let scheme: String?
        let host: String?
        /// Default ports are filled in.
        let port: Int
        /// As given: percent-encoded octets are not decoded.
        let path: [UInt8]
    }

    /// The fields that decide what kind of file is the answer, whatever its query and its user: the method, the
    /// location, and the types that are accepted.
    var file: String {
        let place =
            location.map { location in
                "\(location.scheme ?? "")://\(location.host ?? ""):\(location.port)"
                    + String(decoding: location.path, as: UTF8.self)
            } ?? url
        let fields = [Self.hostField, "accept"].map { selectingFields[$0] ?? "" }
        return ([method, place] + fields).joined(separator: "\n")
    }

    private var location: Location? {
        guard let parts = URLComponents(string: url) else { return nil }
        let scheme = parts.scheme?.lowercased()
        let path = parts.percentEncodedPath
        return Location(
            scheme: scheme,
            host: parts.host?.lowercased(),
            port: parts.port ?? (scheme == "https" ? 443 : 80),
            path: Array((path.isEmpty ? "/" : path).utf8)
        )
    }

    /// Whether both ask the same, apart from the address and the user (P15, P16).
    func selectsTheSame(as other: RequestRecord) -> Bool {
        method == other.method && hasBody == other.hasBody
            && selectingFields.count == other.selectingFields.count
            && selectingFields.allSatisfy { name, value in
                other.selectingFields[name].map { $0.utf8.elementsEqual(value.utf8) } ?? false
            }
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
