import Foundation
internal import OperationNetworkingSystem

extension CacheRequest {
    /// Describes the request as the server will see it, with the cookies of its jar.
    init(_ request: TransferRequest) {
        let isIdentityKnown = request.credential?.hasUnknownUser != true
        let secretFields = request.settings.redirectPolicy.ownSecretFields
        var fields = request.fields
        if let cookies = request.cookies, !cookies.isEmpty, fields["Cookie"] == nil {
            fields["Cookie"] = cookies.fieldValue(for: request.url, host: request.cookieHost)
        }
        // The client certificate is part of the key instead. If the user is unknown, every request has an
        // identity of its own.
        let identity =
            isIdentityKnown
            ? RequestIdentity(fields, request.credential, secretFields: secretFields).digest
            : UUID().uuidString
        self.init(
            key: CacheKey(request.url, partition: CachePartition.name(of: request)),
            url: request.url,
            method: request.method,
            fields: fields,
            policy: request.cachePolicy,
            identity: identity,
            hasBody: request.body != nil
        )
        decodesContent = request.acceptsContentCoding
        retriedStatuses = request.retriedStatuses
        self.isIdentityKnown = isIdentityKnown
        self.secretFields = secretFields
    }

    /// `fields` without the cookies of a jar, which are added when the request is sent.
    func sent(_ fields: HeaderFields, for request: TransferRequest) -> HeaderFields {
        guard !request.fields.contains("Cookie") else { return fields }
        var fields = fields
        fields["Cookie"] = nil
        return fields
    }
}

/// The partition of a key: the trust settings with which the server was verified, since one policy may accept
/// a server that another refuses; the cookie jar of the request, which the response may change; and a `Host`
/// field of the caller's.
enum CachePartition {
    private struct Trust: Hashable {
        let policy: SecurityPolicy
        let anchors: TrustAnchors
        let identity: ClientIdentity?
        let exceptions: Set<TrustException>
    }

    private static let standard = Trust(policy: .default, anchors: .system, identity: nil, exceptions: [])
    private static let names = Locked<[Trust: String]>([:])
    /// The number of names that are kept in memory.
    private static let maximumNames = 256

    /// The partition of a request. Empty for the default trust and for HTTP without TLS.
    static func name(of request: TransferRequest) -> String {
        let others = jarName(of: request) + hostName(in: request.fields)
        guard request.origin.isTLS else { return others }
        return trustName(of: request) + others
    }

    /// The keys under which a client with the same jar may have stored a response to this URL: with the jar,
    /// and without cookies.
    static func keys(of url: String, for request: TransferRequest) -> Set<CacheKey> {
        let trust = request.origin.isTLS ? trustName(of: request) : ""
        let jars = ["", request.settings.cookieJar.map(name) ?? ""]
        let host = hostName(in: request.fields)
        return Set(jars.map { CacheKey(url: url, partition: trust + $0 + host) })
    }

    /// The part for a `Host` field of the caller's own. It selects one of the sites of a server ([RFC 9110
    /// §7.2](https://www.rfc-editor.org/rfc/rfc9110#section-7.2)), so the URL alone does not identify the
    /// response.
    static func hostName(in fields: HeaderFields) -> String {
        let values = fields.values(for: "Host")
        guard !values.isEmpty else { return "" }
        return " host " + values.map { $0.lowercased() }.joined(separator: ",")
    }

    /// The part for the cookie jar. The identity covers the cookies; but two jars are two users even while
    /// they are equal, because the response may be the first to fill one. The shared jar has an empty name.
    private static func jarName(of request: TransferRequest) -> String {
        guard let jar = request.settings.cookieJar, request.cookies != nil else { return "" }
        return name(of: jar)
    }

    private static func name(of jar: CookieJar) -> String {
        jar === CookieJar.shared ? "" : " jar " + jar.identity.uuidString
    }

    /// Whether the environment leaves the system's certificate authorities in place.
    private static let systemIsUsual = TrustAnchors.system.areOfSystem

    private static func trustName(of request: TransferRequest) -> String {
        let domain = request.trustDomain
        let trust = Trust(
            policy: domain.policy,
            anchors: domain.anchors,
            identity: domain.identity,
            exceptions: domain.exceptions
        )
        guard trust != standard || !systemIsUsual else { return "" }
        return names.withLock { names in
            if let name = names[trust] { return name }
            if names.count >= maximumNames { names.removeAll() }
            let name = Self.name(of: trust)
            names[trust] = name
            return name
        }
    }

    /// A name that is the same in every process if the trust can be written down, and unique to this process
    /// otherwise.
    private static func name(of trust: Trust) -> String {
        guard trust.identity == nil, trust.exceptions.isEmpty else { return UUID().uuidString }
        return ServerVerification.digest(trust.policy, trust.anchors)
    }
}

extension Credential {
    /// Whether only the system knows the user. In another process, or after another `kinit`, it may be a
    /// different one.
    fileprivate var hasUnknownUser: Bool {
        if case .tickets = secret { true } else { false }
    }
}
