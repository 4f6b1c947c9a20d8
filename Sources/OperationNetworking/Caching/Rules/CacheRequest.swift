import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The request of one hop, as it is sent. Redirects are followed above the cache, each as a request of its
/// own.
struct CacheRequest: Sendable {
    var key: CacheKey
    var url: URL
    var method: String
    /// The fields that are sent, including `Cookie`. The `Accept-Encoding` that is added to a request whose
    /// content is decoded is only in ``selectingFields``.
    var fields: HeaderFields {
        didSet { directives = CacheDirectives(fields) }
    }
    /// The directives of ``fields``, parsed once: each decision about the request reads them.
    private(set) var directives: CacheDirectives
    var policy: URLRequest.CachePolicy
    /// The digest of the ``RequestIdentity`` that the request is sent with; `nil` if it names no user.
    var identity: String?
    var hasBody: Bool
    /// Whether the content coding of the response is decoded before it is stored.
    var decodesContent = false
    /// The statuses after which the request is retried. A stored response with one of them is validated
    /// first.
    var retriedStatuses: Set<Int> = []
    /// Whether ``identity`` identifies the user. If not, the response is not stored.
    var isIdentityKnown = true
    /// The app's additional names of fields that identify a user.
    var secretFields: Set<String> = []

    init(
        key: CacheKey,
        url: URL,
        method: String,
        fields: HeaderFields,
        policy: URLRequest.CachePolicy,
        identity: String?,
        hasBody: Bool
    ) {
        self.key = key
        self.url = url
        self.method = method
        self.fields = fields
        directives = CacheDirectives(fields)
        self.policy = policy
        self.identity = identity
        self.hasBody = hasBody
    }

    /// Whether a stored response may answer the request: a GET or HEAD without a body.
    var isReadOnly: Bool { (method == "GET" || method == "HEAD") && !hasBody }

    /// The fields from which `Vary` selects. A digest replaces each secret: the credential, which may be sent
    /// without a field of the caller's, and each field that only the app knows as a secret.
    var selectingFields: HeaderFields {
        var selecting = fields
        if decodesContent, !fields.contains("Accept-Encoding") {
            selecting.append(name: "Accept-Encoding", value: ContentDecoder.acceptEncoding)
        }
        guard let identity else { return selecting }
        selecting["Authorization"] = identity
        guard !secretFields.isEmpty else { return selecting }
        for field in fields.fields where SecretFields.isOwnUserField(field.name, of: secretFields) {
            let lines = fields.values(for: field.name)
            selecting[field.name] = SecretDigest.of(lines.joined(separator: "; "))
        }
        return selecting
    }

    /// The caller's own `Range`; `nil` with another method than GET (RFC 9110 §14.2).
    var range: RangeRequest? {
        guard method == "GET" else { return nil }
        return fields.combined(for: "Range").map { RangeRequest(fieldValue: $0) }
    }

    /// Whether the request has a condition that a cache may evaluate (RFC 9111 §4.3.2).
    var hasCondition: Bool { fields["If-None-Match"] != nil || fields["If-Modified-Since"] != nil }

    /// Whether the request has a condition that only the server may evaluate (RFC 9110 §13.1.1, §13.1.4).
    var hasServerCondition: Bool { fields["If-Match"] != nil || fields["If-Unmodified-Since"] != nil }

    /// Whether only a stored response is wanted (RFC 9111 §5.2.1.7).
    var wantsOnlyStored: Bool {
        policy == .returnCacheDataDontLoad || directives.has("only-if-cached")
    }

    /// Whether an end-to-end validation is wanted (RFC 9111 §5.2.1.4, §5.4).
    var wantsValidation: Bool {
        if directives.has("no-cache") { return true }
        guard directives.isEmpty else { return false }
        return fields.values(for: "Pragma").contains { value in
            FieldList(value).members.contains { $0.isEqualIgnoringASCIICase(to: "no-cache") }
        }
    }

    /// The properties that are equal in requests that may share a response.
    struct Sharing: Hashable, Sendable {
        let key: CacheKey
        let fields: HeaderFields
        let identity: String?
        let decodesContent: Bool
    }

    /// Equal for requests that one transfer may answer (RFC 9111 §4, "collapsed requests"); `nil` if the
    /// request cannot share its response.
    ///
    /// Such requests ask for the whole of one resource, as the same user, with equal fields except for those
    /// that identify a message, and accept a fresh response. Ask ``CachePolicy/answer(to:from:now:)`` when
    /// the head has arrived: a response that is not stored, or not fresh, is for its own request only.
    var sharing: Sharing? {
        guard method == "GET", isReadOnly, isIdentityKnown, fields["Range"] == nil, !hasCondition,
            !hasServerCondition, policy == .useProtocolCachePolicy, !wantsValidation,
            !directives.has("no-store")
        else { return nil }
        var selecting = fields
        selecting.removeAll { SecretFields.marksMessage($0.name) }
        return Sharing(
            key: key,
            fields: selecting,
            identity: identity,
            decodesContent: decodesContent
        )
    }

    /// The fields to send when the answer is ``CacheAnswer/fetch``: those of the request, and those that its
    /// policy adds for other caches on the way.
    ///
    /// | Policy                                  | adds                                           |
    /// |-----------------------------------------|------------------------------------------------|
    /// | `reloadIgnoringLocalAndRemoteCacheData` | `Cache-Control: no-cache`, `Pragma: no-cache`  |
    /// | `reloadRevalidatingCacheData`           | `Cache-Control: max-age=0`                     |
    ///
    /// The caller's own `Cache-Control` is not changed.
    var fieldsToSend: HeaderFields {
        var fields = fields
        guard fields["Cache-Control"] == nil else { return fields }
        switch policy {
        case .reloadIgnoringLocalAndRemoteCacheData:
            fields["Cache-Control"] = "no-cache"
            if fields["Pragma"] == nil { fields["Pragma"] = "no-cache" }
        case .reloadRevalidatingCacheData:
            fields["Cache-Control"] = "max-age=0"
        default: break
        }
        return fields
    }
}
