/// A partly received representation: everything that is needed to request the rest and to check the response.
///
/// Created from the 200 response that began it, and kept while an operation is paused. After an append, only `offset`
/// changes; after a replacement, a new one is made from that response.
struct PartialContent: Hashable, Sendable {
    /// The number of kept bytes, from the first one on.
    var offset: Int64
    /// The length of the whole; `nil` if no response has said it.
    var total: Int64?
    /// The URL of the response that began it, after redirects; `nil` if unknown.
    let url: String?
    /// The validator of that response.
    let validator: EntityValidator
    /// The `ETag` of that response as received, whatever its strength; `nil` if there is none, or more than one.
    let entityTag: String?
    /// The `Last-Modified` of that response as received, whatever its strength.
    let lastModified: String?
    /// The `Last-Modified` if it is strong, even if a tag prevents it from being the validator (P10).
    let strongDate: String?
    /// The `Content-Type` and `Content-Location` of that response, which distinguish variants (S15).
    let variant: [String?]
    /// Whether the bytes have a content coding such as gzip, to which ranges then refer (P13).
    let isCoded: Bool
    /// Whether the server said that it does not serve ranges (P14).
    let refusesRanges: Bool
    /// Whether it was begun by a request with another query, or as another user. A tag distinguishes versions of one
    /// resource (RFC 9110 §8.8.1); for two resources it proves nothing (P17).
    var isOfOtherRequest = false
    /// Whether a file that began with these bytes had a wrong digest: their validator is not trusted.
    var isRefuted = false
    /// Whether another program made the bytes, so that no response describes them (P20). They are resumed only if a
    /// digest of the whole is known.
    var isForeign = false

    /// - Parameters:
    ///   - fields: the head of the 200 response.
    ///   - offset: the number of kept bytes of its body.
    ///   - isHTTP10: whether it was an HTTP/1.0 response; such servers support ranges only if they say so.
    ///   - url: the URL of the response.
    init(fields: HeaderFields, offset: Int64 = 0, isHTTP10: Bool = false, url: String? = nil) {
        self.offset = offset
        self.url = url
        validator = EntityValidator(fields, varying: VaryingFields.names(in: fields))
        entityTag = fields.values(for: "ETag").count == 1 ? fields["ETag"] : nil
        lastModified = fields["Last-Modified"]
        strongDate = EntityValidator.strongDate(in: fields)
        variant = PartialContent.variantFields.map { fields[$0] }
        isCoded = fields.hasContentCoding
        total = isCoded ? nil : fields.contentLength
        let units = fields.combined(for: "Accept-Ranges")
        refusesRanges =
            units.map { $0.split(separator: ",").contains { $0.isToken("none") } } ?? isHTTP10
    }

    /// Whether the rest can be requested, and the response checked, by the validator.
    var isNamed: Bool { validator.ifRange != nil && !isCoded }

    /// Whether both have the same strong tag and length.
    func isSameVersion(as other: PartialContent) -> Bool {
        guard case .strongETag = validator, !isRefuted, !other.isRefuted else { return false }
        return validator == other.validator && total == other.total
    }

    /// Whether a response says that it is another variant; one that says nothing does not.
    func isOtherVariant(in fields: HeaderFields) -> Bool {
        zip(PartialContent.variantFields, variant).contains { name, old in
            fields[name].map { $0 != old } ?? false
        }
    }

    /// Whether a response has another type, ignoring parameters (S27), such as a login page instead of an archive.
    func isOtherType(in fields: HeaderFields) -> Bool {
        guard let old = variant[0].flatMap(KeptBody.mediaType(of:)),
            let new = fields["Content-Type"].flatMap(KeptBody.mediaType(of:))
        else { return false }
        return old != new
    }

    private static let variantFields = ["Content-Type", "Content-Location"]
}

extension HeaderFields {
    /// The length of the body in bytes; `nil` if it is absent, not a number, or given twice with different values, or
    /// if a transfer coding marks the end (RFC 9112 §6.3). A list of equal numbers counts as one (RFC 9110 §8.6).
    var contentLength: Int64? {
        guard (try? MessageLength.isChunked(self)) == false else { return nil }
        return (try? MessageLength.declaredLength(self)) ?? nil
    }

    /// Whether the body has a content coding other than identity, which some servers call `none`.
    var hasContentCoding: Bool {
        guard let codings = combined(for: "Content-Encoding") else { return false }
        return codings.split(separator: ",").contains { coding in
            !["identity", "none", ""].contains { coding.isToken($0) }
        }
    }

    /// Whether the body consists of parts, each with its own range.
    var isMultipartByteranges: Bool {
        guard let type = self["Content-Type"]?.split(separator: ";").first else { return false }
        return type.isToken("multipart/byteranges")
    }
}

extension Substring {
    /// Whether the text is this word, ignoring case and surrounding white space.
    fileprivate func isToken(_ word: String) -> Bool {
        Substring(utf8.trimmingHTTPWhitespace()).isEqualIgnoringASCIICase(to: word)
    }
}
