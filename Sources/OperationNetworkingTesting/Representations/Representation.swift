public import Foundation

/// One state of a resource: bytes and their metadata. Served to GET and HEAD by [RFC
/// 9110](https://www.rfc-editor.org/rfc/rfc9110), with ranges and conditions, and with any misbehavior that a
/// test needs.
public struct Representation: Sendable {
    /// An entity tag.
    public struct EntityTag: Hashable, Sendable {
        /// The tag as in a field: `"v1"` including quotes, or `W/"v1"`.
        public let fieldValue: String

        /// The tag `"opaque"`.
        public static func strong(_ opaque: String) -> EntityTag {
            EntityTag(fieldValue: "\"\(opaque)\"")
        }

        /// The tag `W/"opaque"`.
        public static func weak(_ opaque: String) -> EntityTag {
            EntityTag(fieldValue: "W/\"\(opaque)\"")
        }

        /// Whether the tag is weak: equal tags mean equivalent content, not equal bytes.
        public var isWeak: Bool { fieldValue.hasPrefix("W/") }
    }

    /// The bytes, after the content coding.
    public var body: AnswerBody
    /// The value of `ETag`; `nil` omits the field.
    public var entityTag: EntityTag?
    /// The value of `Last-Modified`, in whole seconds; `nil` omits the field.
    public var lastModified: Date?
    /// The value of `Content-Type`; `nil` omits the field.
    public var contentType: String?
    /// The value of `Content-Encoding`; `nil` omits the field. The bytes are not changed.
    public var contentCoding: String?
    /// The value of `Date`; `nil` sends the time of the answer.
    public var date: Date?
    /// Further header fields, sent with 200, 206 and 304. A `Content-Type` in them replaces ``contentType``.
    public var headers: FieldLines
    /// The misbehaviors of the server, all of which apply.
    public var misbehaviors: [Misbehavior]

    /// Creates a representation.
    public init(
        _ body: AnswerBody,
        entityTag: EntityTag? = nil,
        lastModified: Date? = nil,
        contentType: String? = "application/octet-stream",
        contentCoding: String? = nil,
        date: Date? = nil,
        headers: FieldLines = [:],
        misbehaviors: [Misbehavior] = []
    ) {
        self.body = body
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.contentType = contentType
        self.contentCoding = contentCoding
        self.date = date
        self.headers = headers
        self.misbehaviors = misbehaviors
    }

    /// Returns a copy with additional misbehaviors.
    public func misbehaving(_ misbehaviors: Misbehavior...) -> Representation {
        var representation = self
        representation.misbehaviors += misbehaviors
        return representation
    }
}

extension Representation {
    /// A violation of HTTP that occurs in real servers.
    public enum Misbehavior: Hashable, Sendable {
        /// Ignores ranges: answers 200 with everything, without `Accept-Ranges`.
        case ignoresRange
        /// Ignores `If-Range`: answers 206 even if it names another representation.
        case ignoresIfRange
        /// Ignores `If-Match`, `If-None-Match` and the date conditions: answers 200.
        case ignoresConditions
        /// Answers 416 to every range.
        case refusesRanges
        /// Sends and announces a range that is shifted by `by` bytes (earlier if negative), as far as there
        /// are bytes.
        case shiftsRange(by: Int)
        /// Sends and announces at most `to` bytes of the range.
        case shortensRange(to: Int)
        /// Announces the whole range in `Content-Range` but sends at most `to` bytes, with their
        /// `Content-Length`.
        case truncatesRange(to: Int)
        /// Announces another total length in `Content-Range` of 206 and 416; `nil` is `*`, unknown.
        case misstatesTotal(Int?)
        /// Sends this unchecked `Content-Range` with 206 and 416; `nil` omits the field.
        case sendsContentRange(String?)
        /// Sends this `ETag` with 206; `nil` omits the field.
        case sendsPartialEntityTag(EntityTag?)
        /// Sends no `Last-Modified` with 206, as RFC 9110 §15.3.7 allows after `If-Range`.
        case omitsPartialLastModified
        /// Sends this `Content-Encoding` with 206.
        case sendsPartialContentCoding(String)
        /// Sends 206 as `multipart/byteranges` with one part for a single range.
        case sendsMultipart
    }
}
