public import Foundation

/// One state of a resource: bytes and what is said of them. Served as [RFC
/// 9110](https://www.rfc-editor.org/rfc/rfc9110) has it, to GET and HEAD, with ranges and conditions, and
/// with whatever misbehavior a test needs.
public struct Representation: Sendable {
    /// An entity tag.
    public struct EntityTag: Hashable, Sendable {
        /// The tag as in a field: `"v1"` with its quotes, or `W/"v1"`.
        public let fieldValue: String

        /// The tag `"opaque"`.
        public static func strong(_ opaque: String) -> EntityTag {
            EntityTag(fieldValue: "\"\(opaque)\"")
        }

        /// The tag `W/"opaque"`.
        public static func weak(_ opaque: String) -> EntityTag {
            EntityTag(fieldValue: "W/\"\(opaque)\"")
        }

        /// Whether the tag says only that the content is equivalent, not that it is the same bytes.
        public var isWeak: Bool { fieldValue.hasPrefix("W/") }
    }

    /// The bytes, after the content coding.
    public var body: AnswerBody
    /// The value of `ETag`; `nil` sends none.
    public var entityTag: EntityTag?
    /// The value of `Last-Modified`, in whole seconds; `nil` sends none.
    public var lastModified: Date?
    /// The value of `Content-Type`; `nil` sends none.
    public var contentType: String?
    /// The value of `Content-Encoding`; `nil` sends none. The bytes are not touched.
    public var contentCoding: String?
    /// The value of `Date`; `nil` sends the time of the answer.
    public var date: Date?
    /// Further header fields, sent with 200, 206 and 304; a `Content-Type` among them goes in the place of
    /// ``contentType``.
    public var headers: FieldLines
    /// The misbehaviors of the server, all of them at once.
    public var misbehaviors: [Misbehavior]

    /// Describes a representation.
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

    /// The same representation, served with these faults besides those it has.
    public func misbehaving(_ misbehaviors: Misbehavior...) -> Representation {
        var representation = self
        representation.misbehaviors += misbehaviors
        return representation
    }
}

extension Representation {
    /// A behavior that servers should not do and some do.
    public enum Misbehavior: Hashable, Sendable {
        /// Answers 200 with everything, and no `Accept-Ranges`, whatever range is asked for.
        case ignoresRange
        /// Answers 206 although `If-Range` names another representation.
        case ignoresIfRange
        /// Answers 200 although `If-Match`, `If-None-Match` and their like say otherwise.
        case ignoresConditions
        /// Answers 416 to every range.
        case refusesRanges
        /// Sends, and names, a range that begins and ends `by` bytes later (earlier, if negative) than the
        /// one asked for, as far as there are bytes.
        case shiftsRange(by: Int)
        /// Sends, and names, at most `to` bytes of the range.
        case shortensRange(to: Int)
        /// Names the whole range in `Content-Range`, but sends at most `to` bytes, with their
        /// `Content-Length`.
        case truncatesRange(to: Int)
        /// Names another length of the whole in `Content-Range`: 206 and 416; `nil` is `*`, unknown.
        case misstatesTotal(Int?)
        /// Sends this `Content-Range` with 206 and 416, unchecked; `nil` sends none.
        case sendsContentRange(String?)
        /// Sends this `ETag` with 206; `nil` sends none.
        case sendsPartialEntityTag(EntityTag?)
        /// Sends no `Last-Modified` with 206, as RFC 9110 §15.3.7 allows after `If-Range`.
        case omitsPartialLastModified
        /// Sends this `Content-Encoding` with 206.
        case sendsPartialContentCoding(String)
        /// Sends 206 as `multipart/byteranges` with one part, although one range was asked for.
        case sendsMultipart
    }
}
