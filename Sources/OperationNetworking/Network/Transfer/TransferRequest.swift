import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Everything that one transfer needs, decided before it starts.
///
/// It does not change while the transfer runs.
struct TransferRequest: Sendable {
    var url: URL
    /// The origin of the URL.
    var origin: Origin
    var method: String
    var fields: HeaderFields
    var body: RequestBody?
    /// The caller's settings. Trust, credentials and cookies have been decided for this hop, and are in the
    /// other properties.
    var shared: SharedSettings
    var trustDomain: TrustDomain
    /// The credentials that libcurl sends to the server; the exchange sends tokens as a field.
    var authentication: CurlAuthentication?
    /// The credential that they, or the `Authorization` field, prove.
    var credential: Credential?
    /// The time after which the request is not sent, because its token has expired; `nil` for no limit.
    var expiry: Date?
    var version: TransferOptions.HTTPVersion
    /// Whether to request a content coding, and decode it.
    var acceptsContentCoding: Bool
    /// Whether the `Authorization` field has one scalar per byte that is sent: see
    /// ``DigestChallenge/isLatin1``.
    var hasLatin1Authorization = false
    /// Whether libcurl may send the request again if a reused connection died without a byte of a response:
    /// the server may have acted on it ([RFC 9112
    /// §9.3.1](https://www.rfc-editor.org/rfc/rfc9112#section-9.3.1)).
    var mayBeSentAgain: Bool
    /// The seconds without a byte in either direction after which the transfer fails; 0 or less for never.
    var idleTimeout: Double
    /// The maximum length in bytes of a decoded body.
    var maximumDecodedLength = Int64.max
    /// The transfer's priority among those that wait for a connection.
    var priority = TransferPriority.normal
    /// The number of kept connections that were not quiet, and were closed. After ``maximumDirtyConnections``
    /// the transfer opens a new one.
    var dirtyConnections = 0
    /// Whether the transfer opens a new connection, because a kept one had timed out at the server.
    var needsFreshConnection = false
    /// Whether HTTP/2 is also offered if the server turns out not to accept HTTP/1.1.
    var mayOfferHTTP2 = false
    /// Whether the client has files open, and keeps them open while the transfer waits.
    var holdsFiles = false
    /// Whether a file or a stream is opened for the body of the response.
    var opensDestination = false
    /// The cookies that may apply to the server: libcurl chooses from them by RFC 6265. `nil` to neither send
    /// nor store cookies.
    var cookies: [Cookie]?
    /// The version of the jar that they are from: see ``CookieJar/version``.
    var cookieVersion = 0
    /// How a cache may be used, if there is one.
    var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// The statuses of stored responses that do not answer this request, even if fresh: it is retried because
    /// of one of them.
    var retriedStatuses: Set<Int> = []

    /// Each one costs a turn of the network thread.
    static let maximumDirtyConnections = 3

    /// Whether the transfer may use a kept connection.
    var mayUseKeptConnection: Bool {
        !needsFreshConnection && dirtyConnections < Self.maximumDirtyConnections
    }

    /// See ``shared``.
    var settings: TransferSettings {
        _read { yield shared.value }
        _modify { yield &shared.value }
    }

    /// The host whose cookies apply, in the form of a cookie's domain: a `Host` field takes precedence, as in
    /// libcurl.
    var cookieHost: String? { (fields["Host"] ?? url.host).map(Cookie.canonical) }

    /// The number of files that the transfer opens, or may open.
    var fileCount: Int { (opensDestination ? 1 : 0) + (body?.isStream == true ? 1 : 0) }

    /// Whether the request has waited too long: see ``expiry``.
    var hasExpired: Bool { expiry.map { $0 <= Date() } ?? false }

    /// Whether a proxy receives the request, and not just a CONNECT: the response may be its own.
    var goesToProxy: Bool {
        trustDomain.proxy?.kind == .http && !origin.isTLS
            && version != .http2PriorKnowledge
    }

    /// Whether authentication is connection-based, which HTTP/2 does not support.
    var needsHTTP1: Bool {
        switch authentication?.scheme {
        case .ntlm, .negotiate: true
        case nil, .basic: false
        }
    }

    /// Whether a proxy receives a CONNECT first.
    var usesTunnel: Bool {
        trustDomain.proxy?.kind == .http && (origin.isTLS || version == .http2PriorKnowledge)
    }

    /// Whether the body waits for the response of a proxy that is known to send challenges.
    func holdsBody(_ demand: ProxyDemand) -> Bool {
        body != nil && goesToProxy && trustDomain.proxy?.hasCredentials == true && demand.holdsBodies
            && fields["Expect"] == nil
    }

    /// Returns a judge of the server, for one transfer; `nil` without TLS.
    func makeExamination() -> ServerExamination? {
        origin.isTLS ? ServerExamination(trustDomain, url: url) : nil
    }

    /// Returns the request in libcurl's form. `examination` judges the server, and `demand` is what is known
    /// about the proxy.
    func options(_ examination: ServerExamination?, demand: ProxyDemand = .nothing) -> TransferOptions {
        var options = TransferOptions(url: url.absoluteString, method: method)
        options.headerLines = headerLines(holdsBody: holdsBody(demand))
        options.octetLine = octetLine
        options.body = bodyLength
        options.version = version
        options.tls = examination.map { trustDomain.tlsOptions(judge: $0) }
        options.connectTimeout = settings.timeouts.connect
        options.proxy = proxyOptions(demand)
        options.cookieLines = cookies?.map(\.line)
        options.authentication = authentication
        options.opensConnection = !mayUseKeptConnection
        return options
    }

    private func proxyOptions(_ demand: ProxyDemand) -> TransferOptions.Proxy? {
        guard let proxy = trustDomain.proxy else { return nil }
        return TransferOptions.Proxy(
            url: proxy.address,
            user: proxy.user,
            password: proxy.password,
            authentication: demand.authentication,
            headerLines: trustDomain.proxyAuthorization.map { ["Proxy-Authorization: " + $0] } ?? []
        )
    }

    private var bodyLength: TransferOptions.Body {
        guard let body else { return .none }
        return body.length.map { .length($0) } ?? .unknownLength
    }

    /// Returns the fields in libcurl's form. A body that is held waits for 100 (Continue), or for a second.
    func headerLines(holdsBody: Bool) -> [String] {
        guard !fields.isEmpty || body != nil || !acceptsContentCoding else { return Self.plainLines }
        var lines = fields.fields.map(\.line)
        // libcurl adds `Accept: */*` itself, and searches the lines for each field that it adds.
        if acceptsContentCoding { lines.append(Self.acceptEncoding) }
        // Otherwise libcurl adds a pause of a second before a large body, and a default type.
        if body != nil {
            if fields["Expect"] == nil { lines.append(holdsBody ? "Expect: 100-continue" : "Expect:") }
            if fields["Content-Type"] == nil { lines.append("Content-Type:") }
        }
        return lines
    }

    /// The line that is sent with one byte per scalar, if there is one.
    var octetLine: String? {
        guard hasLatin1Authorization else { return nil }
        return fields["Authorization"].map { "Authorization: " + $0 }
    }

    /// The lines of a request without fields.
    private static let plainLines = [acceptEncoding]
    private static let acceptEncoding = "Accept-Encoding: " + ContentDecoder.acceptEncoding
}

extension HeaderFields.Field {
    /// The field in libcurl's form. White space around a value is not part of it ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)), and HTTP/2 forbids it ([RFC 9113
    /// §8.2.1](https://www.rfc-editor.org/rfc/rfc9113#section-8.2.1)); without that an empty value would make
    /// libcurl omit the field.
    fileprivate var line: String {
        let trimmed = value.utf8.trimmingHTTPWhitespace()
        guard !trimmed.isEmpty else { return name + ";" }
        return name + ": " + (trimmed.count == value.utf8.count ? value : String(Substring(trimmed)))
    }
}
