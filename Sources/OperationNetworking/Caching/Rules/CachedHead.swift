internal import Foundation

/// Everything that is stored of a response except its body.
struct CachedHead: Hashable, Sendable {
    /// The canonical text of the URL.
    var url: String {
        get { storage.members.url }
        set { change { $0.url = newValue } }
    }
    /// The method of the request: `GET`, or `POST` if its response may answer a GET.
    var method: String {
        get { storage.members.method }
        set { change { $0.method = newValue } }
    }
    var head: ResponseHead {
        get { storage.members.head }
        set { change(parsing: true) { $0.head = newValue } }
    }
    /// The normalized values of the request's fields that `Vary` names.
    var selecting: HeaderFields {
        get { storage.members.selecting }
        set { change { $0.selecting = newValue } }
    }
    /// The digest of the ``RequestIdentity`` that the request was sent with; `nil` if it named no user. Only
    /// requests with an equal identity receive the response.
    var identity: String? {
        get { storage.members.identity }
        set { change { $0.identity = newValue } }
    }
    /// When the request was sent, in seconds since 1970.
    var requestTime: Double {
        get { storage.members.requestTime }
        set { change { $0.requestTime = newValue } }
    }
    /// When the head was received, in seconds since 1970.
    var responseTime: Double {
        get { storage.members.responseTime }
        set { change(parsing: true) { $0.responseTime = newValue } }
    }
    /// The length of the whole body, in bytes. Until ``ended(at:isWhole:)``, it is the announced length, or 0
    /// if none was announced.
    var length: Int64 {
        get { storage.members.length }
        set { change { $0.length = newValue } }
    }
    /// Whether the body was decoded, so that its offsets and length are not those of the representation.
    var isDecoded: Bool {
        get { storage.members.isDecoded }
        set { change { $0.isDecoded = newValue } }
    }
    /// Whether the response must be validated before it is used (RFC 9111 §4.4), because an unsafe method has
    /// succeeded since, or a HEAD showed another version.
    var isInvalidated: Bool {
        get { storage.members.isInvalidated }
        set { change { $0.isInvalidated = newValue } }
    }
    /// Whether the validators prove nothing about the stored bytes although they look strong. That is the
    /// case if they were received later than the body (a 304 may turn a weak tag into a strong one), if the
    /// caller has changed the body, or if `Date` does not prove that the second of `Last-Modified` was over
    /// ([RFC 9110 §8.8.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.2.2)).
    var hasWeakValidator: Bool {
        get { storage.members.hasWeakValidator }
        set { change { $0.hasWeakValidator = newValue } }
    }

    /// Shared by copies until one changes: a lookup copies a head ten times, and a head has nine references.
    private var storage: Storage

    private final class Storage: Sendable {
        let members: Members
        let meaning: HeadMeaning

        init(_ members: Members, _ meaning: HeadMeaning? = nil) {
            self.members = members
            self.meaning = meaning ?? HeadMeaning(members.head, responseTime: members.responseTime)
        }
    }

    private struct Members: Hashable, Sendable {
        var url: String
        var method: String
        var head: ResponseHead
        var selecting: HeaderFields
        var identity: String?
        var requestTime: Double
        var responseTime: Double
        var length: Int64
        var isDecoded: Bool
        var isInvalidated: Bool
        var hasWeakValidator: Bool
    }

    init(
        url: String,
        method: String,
        head: ResponseHead,
        selecting: HeaderFields,
        identity: String?,
        requestTime: Double,
        responseTime: Double,
        length: Int64,
        isDecoded: Bool,
        isInvalidated: Bool = false,
        hasWeakValidator: Bool = false
    ) {
        let members = Members(
            url: url,
            method: method,
            head: head,
            selecting: selecting,
            identity: identity,
            requestTime: requestTime,
            responseTime: responseTime,
            length: length,
            isDecoded: isDecoded,
            isInvalidated: isInvalidated,
            hasWeakValidator: hasWeakValidator
        )
        storage = Storage(members)
    }

    /// Changes a copy of the members. `parsing` is whether the change affects the meaning.
    private mutating func change(parsing: Bool = false, _ body: (inout Members) -> Void) {
        var members = storage.members
        body(&members)
        storage = Storage(members, parsing ? nil : storage.meaning)
    }

    static func == (one: CachedHead, other: CachedHead) -> Bool {
        one.storage === other.storage || one.storage.members == other.storage.members
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(storage.members)
    }

    var fields: HeaderFields { head.fields }

    /// What the head says, parsed.
    var meaning: HeadMeaning { storage.meaning }

    var directives: CacheDirectives { meaning.directives }

    /// The validator of the stored bytes.
    var validator: EntityValidator {
        let validator = EntityValidator(head.fields)
        return hasWeakValidator && validator.ifRange != nil ? .weak : validator
    }

    /// When the server made the response, for ordering responses (RFC 9111 §4).
    var time: Double { meaning.time }

    /// The head after its body has ended.
    ///
    /// - Parameters:
    ///   - length: the number of bytes received; of decoded bytes, if the body was decoded.
    ///   - isWhole: whether the transfer ended as its framing requires (RFC 9112 §8).
    /// - Returns: `nil` if the body is incomplete; parts are not stored.
    func ended(at length: Int64, isWhole: Bool) -> CachedHead? {
        guard isWhole, length >= 0 else { return nil }
        if head.status == 200, !isDecoded, let announced = head.fields.contentLength, announced != length {
            return nil
        }
        // Without an announced length, `Content-Range` can only be checked now.
        if head.status / 100 == 2, !isDecoded, !head.fields.saysWhole(count: length) { return nil }
        var head = self
        head.length = length
        return head
    }

    /// Records that the stored bytes differ from the server's. The validators still name the version from
    /// which the bytes were made, but prove nothing about them (RFC 9110 §8.8.1).
    /// ``CachePolicy/reply(_:to:now:source:)`` shows the tag as a weak one; a date has no weak form.
    mutating func holdOtherBytes() {
        hasWeakValidator = true
        // The later `Date` of a 304 would make it strong.
        if head.fields["ETag"] == nil { head.fields["Last-Modified"] = nil }
    }
}
