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
    /// The digest of the credentials that the request carried: another's request gets the response only
    /// where RFC 9111 §3.5 lets a shared cache give it.
    var authorization: String? {
        get { storage.members.authorization }
        set { change { $0.authorization = newValue } }
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
    /// The bytes that are held. Until ``ended(at:isWhole:)`` says what came: those that the head announces.
    var body: CachedExtent {
        get { storage.members.body }
        set { change { $0.body = newValue } }
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
        var authorization: String?
        var requestTime: Double
        var responseTime: Double
        var body: CachedExtent
        var isDecoded: Bool
        var isInvalidated: Bool
        var hasWeakValidator: Bool
    }

    init(
        url: String,
        method: String,
        head: ResponseHead,
        selecting: HeaderFields,
        authorization: String?,
        requestTime: Double,
        responseTime: Double,
        body: CachedExtent,
        isDecoded: Bool,
        isInvalidated: Bool = false,
        hasWeakValidator: Bool = false
    ) {
        let members = Members(
            url: url,
            method: method,
            head: head,
            selecting: selecting,
            authorization: authorization,
            requestTime: requestTime,
            responseTime: responseTime,
            body: body,
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

    /// Whether ranges can be cut from it: a 200 or 206 whose bytes are those that were sent.
    var isDivisible: Bool { (head.status == 200 || head.status == 206) && !isDecoded }

    /// Whether the held bytes may be continued, and parts of the same version be told from others.
    var isContinuable: Bool { isDivisible && method == "GET" && validator.ifRange != nil }

    /// The proof that other bytes are of the version that is held.
    var validator: EntityValidator {
        let validator = EntityValidator(head.fields)
        return hasWeakValidator && validator.ifRange != nil ? .weak : validator
    }

    /// The time at which the server made the response, for the order of responses (RFC 9111 §4).
    var time: Double { meaning.time }

    /// The head after the end of its body, with the bytes that came.
    ///
    /// - Parameters:
    ///   - offset: the position behind the last byte that is held, counted in the whole representation: after
    ///     a 206 of `bytes 4-9/10` that came whole, 10. Of a decoded body the number of decoded bytes.
    ///   - isWhole: whether the transfer ended as its framing says (RFC 9112 §8). A body that ended otherwise
    ///     is never complete.
    /// - Returns: `nil` if the bytes cannot be of use: incomplete, and without a strong validator.
    func ended(at offset: Int64, isWhole: Bool) -> CachedHead? {
        var head = self
        let start = body.range.lowerBound
        guard offset >= start else { return nil }
        head.body.range = start..<offset
        if isDecoded || !isDivisible {
            guard isWhole else { return nil }
            head.body = CachedExtent(range: 0..<offset, completeLength: offset, isComplete: true)
            return head
        }
        if head.body.completeLength == nil, isWhole, head.head.status == 200 {
            head.body.completeLength = offset
        }
        let isComplete = isWhole && start == 0 && head.body.completeLength == offset
        guard !isComplete else {
            head.body.isComplete = true
            head.becomeWhole(length: offset)
            return head
        }
        head.body.isComplete = false
        let isBehindEnd = head.body.completeLength.map { offset > $0 } ?? false
        guard !isBehindEnd, head.body.count > 0 else { return nil }
        // Of a part that came whole, ranges can be served while it is fresh, whatever its validator.
        guard isContinuable || (isWhole && head.head.status == 206) else { return nil }
        return head
    }

    /// A 206 of all bytes is a 200.
    mutating func becomeWhole(length: Int64) {
        guard head.status == 206 else { return }
        head.status = 200
        head.fields["Content-Range"] = nil
        head.fields["Content-Length"] = "\(length)"
    }

    /// Notes that the bytes that are held are not the server's: its validators still name the version that
    /// they were made of, and prove nothing about them (RFC 9110 §8.8.1).
    /// ``CachePolicy/reply(_:to:now:use:)`` shows the tag as a weak one; a date has no weak form.
    mutating func holdOtherBytes() {
        hasWeakValidator = true
        // A later `Date`, of a 304, would make it a strong one.
        if head.fields["ETag"] == nil { head.fields["Last-Modified"] = nil }
    }

    /// Whether the bytes that are held leave nothing for those of `part` to add: they are of the same
    /// version, for the same requests, and complete, or more.
    func outdoes(_ part: CachedHead) -> Bool {
        guard !part.body.isComplete, validator.ifRange != nil, validator == part.validator, url == part.url,
            isDecoded == part.isDecoded, authorization == part.authorization, selecting == part.selecting
        else { return false }
        return body.isComplete || body.count > part.body.count
    }
}
