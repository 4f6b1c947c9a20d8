import Foundation
internal import OperationNetworkingSystem

extension CacheRequest {
    /// The request as the server will see it: with the fields that are added below.
    init(_ request: TransferRequest) {
        var fields = request.fields
        if request.acceptsContentCoding, fields["Accept-Encoding"] == nil {
            fields["Accept-Encoding"] = ContentDecoder.acceptEncoding
        }
        if fields["Cookie"] == nil {
            fields["Cookie"] = request.cookies?.fieldValue(for: request.url, host: request.cookieHost)
        }
        self.init(
            key: CacheKey(request.url, partition: CachePartition.name(of: request)),
            url: request.url,
            method: request.method,
            fields: fields,
            policy: request.cachePolicy,
            identity: Self.identity(of: request, fields),
            hasBody: request.body != nil,
            decodesContent: request.acceptsContentCoding,
            retriedStatuses: request.retriedStatuses,
            isIdentityKnown: request.credential?.hasUnknownUser != true,
            secretFields: request.settings.redirectPolicy.ownSecretFields
        )
    }

    /// The identity of a request that goes out with `fields`: with the cookies that a jar adds. The
    /// certificate is in the key. Tickets of the system are of another user each time, since nothing says of
    /// whom.
    private static func identity(of request: TransferRequest, _ fields: HeaderFields) -> String? {
        if request.credential?.hasUnknownUser == true { return UUID().uuidString }
        let secretFields = request.settings.redirectPolicy.ownSecretFields
        return RequestIdentity(fields, request.credential, secretFields: secretFields).digest
    }

    /// The fields of a transfer that asks with `fields`, without those that are added below.
    func sent(_ fields: HeaderFields, for request: TransferRequest) -> HeaderFields {
        var fields = fields
        for name in ["Accept-Encoding", "Cookie"] where request.fields[name] == nil { fields[name] = nil }
        return fields
    }
}

/// The trust by which a server was believed, since what one policy lets in another one has to refuse; and the
/// jar of the request, which the response may fill.
enum CachePartition {
    private struct Trust: Hashable {
        let policy: SecurityPolicy
        let anchors: TrustAnchors
        let identity: ClientIdentity?
        let exceptions: Set<TrustException>
    }

    private static let standard = Trust(policy: .default, anchors: .system, identity: nil, exceptions: [])
    private static let names = Locked<[Trust: String]>([:])
    /// Names that are remembered at once.
    private static let maximumNames = 256

    /// Empty: the standard one, or none, as without TLS.
    static func name(of request: TransferRequest) -> String {
        let others = jarName(of: request) + hostName(in: request.fields)
        guard request.url.isTLS else { return others }
        return trustName(of: request) + others
    }

    /// The keys of a URL by which a client with the jar of the request may have stored it: with the jar and
    /// without cookies.
    static func keys(of url: String, for request: TransferRequest) -> Set<CacheKey> {
        let trust = request.url.isTLS ? trustName(of: request) : ""
        let jars = ["", request.settings.cookieJar.map(name) ?? ""]
        let host = hostName(in: request.fields)
        return Set(jars.map { CacheKey(url: url, partition: trust + $0 + host) })
    }

    /// A `Host` of the caller's own names the site that answers ([RFC 9110
    /// §7.2](https://www.rfc-editor.org/rfc/rfc9110#section-7.2)): one server has many, and the URL is
    /// another.
    static func hostName(in fields: HeaderFields) -> String {
        let values = fields.values(for: "Host")
        guard !values.isEmpty else { return "" }
        return " host " + values.map { $0.lowercased() }.joined(separator: ",")
    }

    /// Cookies say who asks, and are in the identity. Besides, two jars are two users, whatever is in them:
    /// the response may be the one that fills them. The jar of the process has no name.
    private static func jarName(of request: TransferRequest) -> String {
        guard let jar = request.settings.cookieJar, request.cookies != nil else { return "" }
        return name(of: jar)
    }

    private static func name(of jar: CookieJar) -> String {
        jar === CookieJar.shared ? "" : " jar " + jar.identity.uuidString
    }

    /// Whether no environment names other authorities than the system's.
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

    /// The same in each process where everything can be written down; else of this process only.
    private static func name(of trust: Trust) -> String {
        guard trust.identity == nil, trust.exceptions.isEmpty else { return UUID().uuidString }
        return ServerVerification.digest(trust.policy, trust.anchors)
    }
}

extension Credential {
    /// Whether only the system knows who asks: another process, or a later kinit(1), may be another user.
    fileprivate var hasUnknownUser: Bool {
        if case .tickets = secret { true } else { false }
    }
}
