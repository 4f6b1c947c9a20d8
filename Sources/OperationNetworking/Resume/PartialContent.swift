/// A representation of which some bytes have been received: enough to ask for the others and to judge the
/// answer.
///
/// Made from the 200 that began it, kept while an operation is paused. After an append, add the bytes to
/// `offset` and keep the rest; after a replace, make a new one from that response.
struct PartialContent: Hashable, Sendable {
    /// The number of bytes that were received and kept, from the first one on.
    var offset: Int64
    /// The length of the whole, `nil` while no response has said it.
    var total: Int64?
    /// The URL of the response that began it, redirects followed; `nil` if that is not known.
    let url: String?
    /// The validator of that response.
    let validator: EntityValidator
    /// The `ETag` of that response, as received, whatever its strength; `nil` for none and for several.
    let entityTag: String?
    /// The `Last-Modified` of that response, as received, whatever its strength.
    let lastModified: String?
    /// The same if it is strong, even where a tag keeps it from being the validator (P10).
    let strongDate: String?
    /// The `Content-Type` and `Content-Location` of that response, which tell one variant from another (S15).
    let variant: [String?]
    /// Whether the bytes are those of a coding such as gzip, in which ranges count (P13).
    let isCoded: Bool
    /// Whether the server said that it does not serve ranges (P14).
    let refusesRanges: Bool
    /// Whether it was begun by a request to another address than the present one, or as another user. A tag
    /// tells versions of one resource apart (RFC 9110 section 8.8.1), and says nothing of two (P17).
    var isOfOtherQuestion = false
    /// Whether a file that began with the bytes had a wrong digest: their validator is not believed.
    var isRefuted = false
    /// Whether the bytes are another program's, so that no response has described them (P20). They are continued
    /// only where a digest of the whole is known.
    var isForeign = false

    /// - Parameters:
    ///   - fields: the head of the 200.
    ///   - offset: how many bytes of its body are kept.
    ///   - isHTTP10: whether the response was in HTTP/1.0, whose servers serve ranges only if they say so.
    ///   - url: where it came from.
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

    /// Whether its rest can be asked for, and the answer be judged, by its validator.
    var isNamed: Bool { validator.ifRange != nil && !isCoded }

    /// Whether the two are of the same version, by its strong tag and its length.
    func isSameVersion(as other: PartialContent) -> Bool {
        guard case .strongETag = validator, !isRefuted, !other.isRefuted else { return false }
        return validator == other.validator && total == other.total
    }

    /// Whether a response says that it is of another variant; one that says nothing does not.
    func isOtherVariant(in fields: HeaderFields) -> Bool {
        zip(PartialContent.variantFields, variant).contains { name, old in
            fields[name].map { $0 != old } ?? false
        }
    }

    /// Whether a response is of another type, parameters apart (S27): a login page, instead of an archive.
    func isOtherType(in fields: HeaderFields) -> Bool {
        func type(_ text: String?) -> Substring? {
            text?.split(separator: ";").first.map { Substring($0.utf8.trimmingHTTPWhitespace()) }
        }
        guard let old = type(variant[0]), let new = type(fields["Content-Type"]) else { return false }
        return !old.isEqualIgnoringASCIICase(to: new)
    }

    private static let variantFields = ["Content-Type", "Content-Location"]
}

extension HeaderFields {
    /// The number of octets that follow, `nil` when it is not said, not a number, or said twice with
    /// different numbers, or when a transfer coding says where they end (RFC 9112 §6.3). A list of equal
    /// numbers is one (RFC 9110 §8.6), as it is for what counts the body.
    var contentLength: Int64? {
        guard (try? MessageLength.isChunked(self)) == false else { return nil }
        return (try? MessageLength.declaredLength(self)) ?? nil
    }

    /// Whether the body is in a coding other than identity, which some servers call `none`.
    var hasContentCoding: Bool {
        guard let codings = combined(for: "Content-Encoding") else { return false }
        return codings.split(separator: ",").contains { coding in
            !["identity", "none", ""].contains { coding.isToken($0) }
        }
    }

    /// Whether the body is a sequence of parts, each with its own range.
    var isMultipartByteranges: Bool {
        guard let type = self["Content-Type"]?.split(separator: ";").first else { return false }
        return type.isToken("multipart/byteranges")
    }
}

extension Substring {
    /// Whether this is that word, apart from case and the white space around it.
    fileprivate func isToken(_ word: String) -> Bool {
        Substring(utf8.trimmingHTTPWhitespace()).isEqualIgnoringASCIICase(to: word)
    }
}
