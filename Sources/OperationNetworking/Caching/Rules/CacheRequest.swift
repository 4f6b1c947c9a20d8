import Foundation
import FoundationNetworking

/// One hop's request, as it is sent: redirects are followed above the cache, each as a request of its own.
struct CacheRequest: Sendable {
    var key: CacheKey
    var url: URL
    var method: String
    /// All fields that go out, `Cookie` and `Accept-Encoding` included if `Vary` is to see them.
    var fields: HeaderFields
    var policy: URLRequest.CachePolicy
    /// The digest of the ``RequestIdentity`` that it is sent with; `nil`: it names no user.
    var identity: String?
    var hasBody: Bool
    /// Whether a content coding of the response is undone before it is stored.
    var decodesContent = false
    /// The statuses for which it is sent again: a stored response with one of them is validated first.
    var retriedStatuses: Set<Int> = []
    /// Whether ``identity`` tells who asks. If not, its response is not stored.
    var isIdentityKnown = true

    /// Whether a stored response may answer it: GET and HEAD without a body.
    var isReadOnly: Bool { (method == "GET" || method == "HEAD") && !hasBody }

    var directives: CacheDirectives { CacheDirectives(fields) }

    /// The fields by which `Vary` selects. Credentials may be sent without a field of the caller's, and are
    /// not stored as they are: their digest stands for them.
    var selectingFields: HeaderFields {
        guard let identity else { return fields }
        var fields = fields
        fields["Authorization"] = identity
        return fields
    }

    /// The caller's own `Range`; ignored with another method than GET (RFC 9110 §14.2).
    var range: RangeRequest? {
        guard method == "GET" else { return nil }
        return fields.combined(for: "Range").map { RangeRequest(fieldValue: $0) }
    }

    /// Whether it has a condition that a cache may answer (RFC 9111 §4.3.2).
    var hasCondition: Bool { fields["If-None-Match"] != nil || fields["If-Modified-Since"] != nil }

    /// Whether it has a condition that only the server may answer (RFC 9110 §13.1.1, §13.1.4).
    var hasServerCondition: Bool { fields["If-Match"] != nil || fields["If-Unmodified-Since"] != nil }

    /// Whether only a stored response is wanted (RFC 9111 §5.2.1.7).
    var wantsOnlyStored: Bool {
        policy == .returnCacheDataDontLoad || directives.has("only-if-cached")
    }

    /// Whether an end-to-end validation is wanted (RFC 9111 §5.2.1.4, §5.4).
    var wantsValidation: Bool {
        let directives = directives
        if directives.has("no-cache") { return true }
        guard directives.isEmpty else { return false }
        return fields.values(for: "Pragma").contains { value in
            FieldList(value).members.contains { $0.isEqualIgnoringASCIICase(to: "no-cache") }
        }
    }

    /// The parts in which two requests are equal whose response may turn out to be one.
    struct Sharing: Hashable, Sendable {
        let key: CacheKey
        let fields: HeaderFields
        let identity: String?
        let decodesContent: Bool
    }

    /// Equal for requests of which one transfer may be enough (RFC 9111 §4: requests are collapsed); `nil`:
    /// it is for this request alone.
    ///
    /// All of them want the whole of the same, in the same words but for what marks a message, and take a
    /// fresh response. Ask
    /// ``CachePolicy/answer(to:from:now:)`` when the head has come: a response that is not stored, or not
    /// fresh, is for its own request only.
    var sharing: Sharing? {
        guard method == "GET", isReadOnly, fields["Range"] == nil, !hasCondition, !hasServerCondition,
            policy == .useProtocolCachePolicy, !wantsValidation, !directives.has("no-store")
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

    /// The fields to send when the answer is ``CacheAnswer/fetch``: those of the request, and what its policy
    /// says to the caches on the way.
    ///
    /// | Policy                                  | adds                                           |
    /// |-----------------------------------------|------------------------------------------------|
    /// | `reloadIgnoringLocalAndRemoteCacheData` | `Cache-Control: no-cache`, `Pragma: no-cache`  |
    /// | `reloadRevalidatingCacheData`           | `Cache-Control: max-age=0`                     |
    ///
    /// A `Cache-Control` of the caller's own stays as it is.
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
