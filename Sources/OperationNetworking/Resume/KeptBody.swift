/// What the body of an answer would take the place of: bytes that are kept, or a complete file.
///
/// | The answer                                                            | It is              |
/// |-----------------------------------------------------------------------|--------------------|
/// | of another media type, parameters apart                               | something else     |
/// | HTML, where the type of what is there is not known, and it is no HTML | something else     |
/// | without an `ETag` and a `Last-Modified`, and shorter than what is there | something else   |
/// | any other                                                             | another version    |
/// | one that is no HTML, where HTML is there: that may have been such a page | another version |
///
/// A sign-in page of a network, a page of a service that is being repaired, the text of a limit: it says nothing
/// of the file, whatever validators it has, so it is waited for as for a 503 (S27).
struct KeptBody: Hashable, Sendable {
    /// In lower case, without parameters; `nil`: not known.
    var mediaType: String?
    /// Whether its bytes begin as HTML does.
    var isHTML = false
    /// The number of bytes that are there.
    var count: Int64
    /// The length of the whole, if it is known.
    var total: Int64?
    /// Whether its server gave a validator.
    var isNamed = true
    /// Whether an answer without a validator has to be as long: not one in the place of a complete file whose
    /// server has never named any, for that may change all the time.
    var hasLength = true

    /// Why a response cannot be another version of it; `nil`: it can. `fields`: of its head. `length`: of its
    /// body, if it is known.
    func objection(to fields: HeaderFields, length: Int64?) -> ResumeError? {
        let type = fields["Content-Type"].flatMap(Self.mediaType(of:))
        if Self.isHTML(mediaType), type != nil, !Self.isHTML(type) { return nil }
        let isOther =
            if let mediaType, let type {
                mediaType != type
            } else {
                mediaType == nil && Self.isHTML(type) && !isHTML
            }
        let isShorter =
            hasLength && fields["ETag"] == nil && fields["Last-Modified"] == nil
            && length.map { $0 < count } ?? false
        guard isOther || isShorter else { return nil }
        return .somethingElse(mediaType: type, length: length, expected: total ?? count)
    }

    private static func isHTML(_ mediaType: String?) -> Bool {
        mediaType == "text/html" || mediaType == "application/xhtml+xml"
    }

    /// The type of a `Content-Type`, without its parameters; `nil` if there is none.
    static func mediaType(of fieldValue: String) -> String? {
        guard let text = fieldValue.split(separator: ";").first else { return nil }
        let type = Substring(text.utf8.trimmingHTTPWhitespace()).lowercased()
        return type.isEmpty ? nil : type
    }
}

extension KeptBody {
    /// - Parameters:
    ///   - partial: the kept bytes.
    ///   - isSameFile: whether they are of the file that the request asks for. Of another file only this counts:
    ///     HTML does not replace it, unless it is HTML itself.
    init(_ partial: PartialContent, isSameFile: Bool = true) {
        let type = partial.variant[0].flatMap(Self.mediaType(of:))
        mediaType = isSameFile ? type : nil
        isHTML = Self.isHTML(type)
        count = partial.offset
        total = partial.total
        isNamed = partial.entityTag != nil || partial.lastModified != nil
        hasLength = isSameFile
    }
}
