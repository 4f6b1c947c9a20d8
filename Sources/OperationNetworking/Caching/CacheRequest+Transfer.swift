import Foundation
internal import OperationNetworkingSystem

extension CacheRequest {
    /// The request as the server will see it: with the fields that are added below.
    init(_ request: TransferRequest) {
        var fields = request.fields
        if request.acceptsContentCoding, fields["Accept-Encoding"] == nil {
            fields["Accept-Encoding"] = ContentDecoder.acceptEncoding
        }
        if fields["Cookie"] == nil { fields["Cookie"] = request.cookies?.fieldValue(for: request.url) }
        self.init(
            key: CacheKey(request.url, partition: CachePartition.name(of: request)),
            url: request.url,
            method: request.method,
            fields: fields,
            policy: request.cachePolicy,
            authorization: CacheAuthorization(request)?.digest,
            hasBody: request.body != nil,
            decodesContent: request.acceptsContentCoding
        )
    }

    /// The fields of a transfer that asks with `fields`, without those that are added below.
    func sent(_ fields: HeaderFields, for request: TransferRequest) -> HeaderFields {
        var fields = fields
        for name in ["Accept-Encoding", "Cookie"] where request.fields[name] == nil { fields[name] = nil }
        return fields
    }
}

/// The credentials of a request, as far as they say who asks.
struct CacheAuthorization: Hashable, Sendable {
    private let text: String

    /// `nil`: the request has none.
    init?(_ request: TransferRequest) {
        if let value = request.fields["Authorization"] {
            text = Self.identity(in: value)
        } else if let authentication = request.authentication {
            text = "\(authentication.user)\n\(authentication.password)"
        } else {
            return nil
        }
    }

    /// A proof by Digest is another one in each request; its user and realm are the same ([RFC 7616
    /// §3.4](https://www.rfc-editor.org/rfc/rfc7616#section-3.4)).
    private static func identity(in value: String) -> String {
        guard value.lowercased().hasPrefix("digest ") else { return value }
        let kept = value.dropFirst(7).split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { part in
                ["username", "username*", "realm"].contains { part.lowercased().hasPrefix($0 + "=") }
            }
        return kept.isEmpty ? value : "digest " + kept.sorted().joined(separator: ", ")
    }

    /// Not to be turned back, and the same in each process. A directory of a cache is readable by its owner
    /// only, who has the responses as well.
    var digest: String {
        let bytes = Array(("OperationNetworking.cache\n" + text).utf8)
        // Where no digest is computed (FIPS mode has this one), the response is for this process only.
        return (try? bytes.span.sha256Text()) ?? "process \(text.hashValue)"
    }
}

/// The trust by which a server was believed: what one policy lets in, another one has to refuse.
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
        guard request.url.isTLS else { return "" }
        let domain = request.trustDomain
        let trust = Trust(
            policy: domain.policy,
            anchors: domain.anchors,
            identity: domain.identity,
            exceptions: domain.exceptions
        )
        guard trust != standard else { return "" }
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
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard trust.identity == nil, trust.exceptions.isEmpty, let policy = try? encoder.encode(trust.policy),
            let anchors = try? encoder.encode(trust.anchors),
            let text = try? Array(policy + [0] + anchors).span.sha256Text()
        else { return UUID().uuidString }
        return text
    }
}
