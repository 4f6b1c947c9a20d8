internal import Foundation

/// Everything that is stored of a response but its body.
struct CachedHead: Hashable, Sendable {
    /// The text of the key's URL.
    var url: String {
        get { storage.members.url }
        set { change { $0.url = newValue } }
    }
    /// Of the request: `GET`, or the `POST` whose answer may be taken for that of a GET.
    var method: String {
        get { storage.members.method }
        set { change { $0.method = newValue } }
    }
    var head: ResponseHead {
        get { storage.members.head }
        set { change(HeadMeaning.Memo()) { $0.head = newValue } }
    }
    /// The values of the request's fields that `Vary` names, normalized.
    var selecting: HeaderFields {
        get { storage.members.selecting }
        set { change { $0.selecting = newValue } }
    }
    /// The digest of the ``RequestIdentity`` that the request was sent with: another's request never gets the
    /// response. `nil`: it named no user.
    var identity: String? {
        get { storage.members.identity }
        set { change { $0.identity = newValue } }
    }
    /// The time when the request was sent, in seconds since 1970.
    var requestTime: Double {
        get { storage.members.requestTime }
        set { change { $0.requestTime = newValue } }
    }
    /// The time when the head came.
    var responseTime: Double {
        get { storage.members.responseTime }
        set { change(HeadMeaning.Memo()) { $0.responseTime = newValue } }
    }
    /// The length of the body, in bytes, which is whole. Until ``ended(at:isWhole:)``: the announced one; 0
    /// if none is.
    var length: Int64 {
        get { storage.members.length }
        set { change { $0.length = newValue } }
    }
    /// Whether a content coding was undone: positions and lengths are not those of the representation.
    var isDecoded: Bool {
        get { storage.members.isDecoded }
        set { change { $0.isDecoded = newValue } }
    }
    /// Whether an unsafe method has succeeded since, or a HEAD has shown another version: to be validated
    /// before it is used (RFC 9111 §4.4).
    var isInvalidated: Bool {
        get { storage.members.isInvalidated }
        set { change { $0.isInvalidated = newValue } }
    }
    /// Whether the validators prove nothing about the bytes that are held, though they look strong: they came
    /// later than the body (a 304 may turn a weak tag into a strong one), the caller has changed the body, or
    /// the server's `Date` did not say that the second of `Last-Modified` was over ([RFC 9110
    /// §8.8.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.2.2)).
    var hasWeakValidator: Bool {
        get { storage.members.hasWeakValidator }
        set { change { $0.hasWeakValidator = newValue } }
    }

    /// A look-up hands a head on ten times, and it has nine references: it is shared, and copied when it
    /// changes.
    private var storage: Storage

    private final class Storage: Sendable {
        let members: Members
        /// Of the head and the time when it came.
        let memo: HeadMeaning.Memo

        init(_ members: Members, _ memo: HeadMeaning.Memo) {
            self.members = members
            self.memo = memo
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
        storage = Storage(members, HeadMeaning.Memo())
    }

    /// `memo`: another one, if it was of what changes.
    private mutating func change(_ memo: HeadMeaning.Memo? = nil, _ body: (inout Members) -> Void) {
        var members = storage.members
        body(&members)
        storage = Storage(members, memo ?? storage.memo)
    }

    static func == (one: CachedHead, other: CachedHead) -> Bool {
        one.storage === other.storage || one.storage.members == other.storage.members
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(storage.members)
    }

    var fields: HeaderFields { head.fields }

    /// Read once, for all copies.
    var meaning: HeadMeaning { memo.value { HeadMeaning(head, responseTime: responseTime) } }

    /// The same for all copies, until the head or its time changes.
    var memo: HeadMeaning.Memo { storage.memo }

    var directives: CacheDirectives { meaning.directives }

    /// The proof that other bytes are of the version that is held.
    var validator: EntityValidator {
        let validator = EntityValidator(head.fields)
        return hasWeakValidator && validator.ifRange != nil ? .weak : validator
    }

    /// The time at which the server made the response, for the order of responses (RFC 9111 §4).
    var time: Double { meaning.time }

    /// The head after the end of its body.
    ///
    /// - Parameters:
    ///   - length: the number of bytes that came; of a decoded body, of decoded bytes.
    ///   - isWhole: whether the transfer ended as its framing says (RFC 9112 §8).
    /// - Returns: `nil` if the body is not whole: a part is not stored.
    func ended(at length: Int64, isWhole: Bool) -> CachedHead? {
        guard isWhole, length >= 0 else { return nil }
        if head.status == 200, !isDecoded, let announced = head.fields.contentLength, announced != length {
            return nil
        }
        var head = self
        head.length = length
        return head
    }

    /// Notes that the bytes that are held are not the server's: its validators still name the version that
    /// they were made of, and prove nothing about them (RFC 9110 §8.8.1).
    /// ``CachePolicy/reply(_:to:now:use:)`` shows the tag as a weak one; a date has no weak form.
    mutating func holdOtherBytes() {
        hasWeakValidator = true
        // A later `Date`, of a 304, would make it a strong one.
        if head.fields["ETag"] == nil { head.fields["Last-Modified"] = nil }
    }
}
