import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// All that one transfer needs, decided before it starts.
///
/// None of it changes while the transfer runs.
struct TransferRequest: Sendable {
    var url: URL
    /// Of the URL.
    var origin: Origin
    var method: String
    var fields: HeaderFields
    var body: RequestBody?
    /// As the caller chose them. What they say of trust, credentials and cookies was decided for this hop,
    /// and is in the other properties.
    var shared: SharedSettings
    var trustDomain: TrustDomain
    /// The credentials that libcurl sends to the server; the exchange sends tokens as a field.
    var authentication: CurlAuthentication?
    /// The credential that those, or the `Authorization` field, prove.
    var credential: Credential?
    /// The time from which on the request is not sent: a token in it has expired. `nil`: at any time.
    var expiry: Date?
    var version: TransferOptions.HTTPVersion
    /// Whether to ask for a content coding, and undo it.
    var acceptsContentCoding: Bool
    /// Whether the `Authorization` field has one scalar for each octet that is sent: see
    /// ``DigestChallenge/isLatin1``.
    var hasLatin1Authorization = false
    /// Whether the request may be sent again, by libcurl, when a connection that was used before died without
    /// a byte of an answer: the server may have acted on it ([RFC 9112
    /// §9.3.1](https://www.rfc-editor.org/rfc/rfc9112#section-9.3.1)).
    var mayBeSentAgain: Bool
    /// Seconds without a byte in either direction after which the transfer fails; 0 or less: never.
    var idleTimeout: Double
    /// Bytes that a body may have after its content coding was undone.
    var maximumDecodedLength = Int64.max
    /// The transfer's rank among the transfers that wait for a connection.
    var priority = TransferPriority.normal
    /// The number of kept connections that were found not to be quiet, and closed: after
    /// ``maximumDirtyConnections`` it opens one.
    var dirtyConnections = 0
    /// Whether it opens a connection, since one that was kept had timed out at the server.
    var needsFreshConnection = false
    /// Whether HTTP/2 is offered, too, if the server turns out not to take HTTP/1.1.
    var mayOfferHTTP2 = false
    /// The cookies that may concern the server: libcurl chooses from them by RFC 6265. `nil`: none are sent
    /// or kept.
    var cookies: [Cookie]?
    /// The version of the jar that has them: see ``CookieJar/version``.
    var cookieVersion = 0
    /// The use that a cache may be made of, if there is one.
    var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// The statuses of stored responses that do not answer it, however fresh: it is sent again because of
    /// one of them.
    var retriedStatuses: Set<Int> = []

    /// Each costs a turn of the network thread.
    static let maximumDirtyConnections = 3

    /// Whether it need not open a connection.
    var mayUseKeptConnection: Bool {
        !needsFreshConnection && dirtyConnections < Self.maximumDirtyConnections
    }

    /// See ``shared``.
    var settings: TransferSettings {
        _read { yield shared.value }
        _modify { yield &shared.value }
    }

    /// The host that cookies are for, in the form of a cookie's domain: a `Host` field names it, as it does
    /// for libcurl.
    var cookieHost: String? { (fields["Host"] ?? url.host).map(Cookie.canonical) }

    /// Whether it has waited too long: see ``expiry``.
    var hasExpired: Bool { expiry.map { $0 <= Date() } ?? false }

    /// Whether a proxy gets the request, and not just a tunnel to the server: what it answers may be its own.
    var isAskedOfProxy: Bool {
        trustDomain.proxy?.kind == .http && !origin.isTLS
            && version != .http2PriorKnowledge
    }

    /// Whether a connection is authenticated, which HTTP/2 does not know.
    var needsHTTP1: Bool {
        switch authentication?.scheme {
        case .ntlm, .negotiate: true
        case nil, .basic: false
        }
    }

    /// Whether a proxy is asked to CONNECT first.
    var usesTunnel: Bool {
        trustDomain.proxy?.kind == .http && (origin.isTLS || version == .http2PriorKnowledge)
    }

    /// Whether the body waits until a proxy of which that is known has had a look at the head.
    func holdsBody(_ demand: ProxyDemand) -> Bool {
        body != nil && isAskedOfProxy && trustDomain.proxy?.hasCredentials == true && demand.holdsBodies
            && fields["Expect"] == nil
    }

    /// A judge of the server, for one transfer; `nil` without TLS.
    func makeExamination() -> ServerExamination? {
        origin.isTLS ? ServerExamination(trustDomain, url: url) : nil
    }

    /// libcurl's form of it; `examination` judges the server, and `demand` is what is known of the proxy.
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

    /// The fields in libcurl's form. A body that is held waits for 100 (Continue), or for a second.
    func headerLines(holdsBody: Bool) -> [String] {
        guard !fields.isEmpty || body != nil || !acceptsContentCoding else { return Self.plainLines }
        var lines = fields.fields.map(\.line)
        // `Accept: */*` is libcurl's own, which looks through the lines for each field that it adds.
        if acceptsContentCoding { lines.append(Self.acceptEncoding) }
        // Added by libcurl otherwise: a pause of a second before a large body, and its own idea of a type.
        if body != nil {
            if fields["Expect"] == nil { lines.append(holdsBody ? "Expect: 100-continue" : "Expect:") }
            if fields["Content-Type"] == nil { lines.append("Content-Type:") }
        }
        return lines
    }

    /// The one of the lines that is sent with one octet for each scalar.
    var octetLine: String? {
        guard hasLatin1Authorization else { return nil }
        return fields["Authorization"].map { "Authorization: " + $0 }
    }

    /// Of a request with nothing of its own.
    private static let plainLines = [acceptEncoding]
    private static let acceptEncoding = "Accept-Encoding: " + ContentDecoder.acceptEncoding
}

extension HeaderFields.Field {
    /// In libcurl's form. White space around a value is no part of it ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)), and HTTP/2 forbids it ([RFC 9113
    /// §8.2.1](https://www.rfc-editor.org/rfc/rfc9113#section-8.2.1)); a value of nothing else is an empty
    /// one, and libcurl would not send the field.
    fileprivate var line: String {
        let trimmed = value.utf8.trimmingHTTPWhitespace()
        guard !trimmed.isEmpty else { return name + ";" }
        return name + ": " + (trimmed.count == value.utf8.count ? value : String(Substring(trimmed)))
    }
}
