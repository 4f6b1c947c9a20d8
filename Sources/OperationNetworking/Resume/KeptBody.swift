/// What a response's body would replace: kept bytes, or a complete file.
///
/// | The response                                                            | It is              |
/// |-------------------------------------------------------------------------|--------------------|
/// | has another media type, ignoring parameters                             | something else     |
/// | is HTML; the type of what it replaces is unknown, and that is not HTML  | something else     |
/// | has no `ETag` and no `Last-Modified`, and is shorter than what it replaces | something else  |
/// | is anything else                                                        | another version    |
/// | is not HTML, and replaces HTML, which may have been such a page         | another version    |
///
/// The sign-in page of a network, the page of a service under maintenance, or the text of a rate limit say nothing
/// about the file, whatever validators they have. So the download waits, as for a 503 (S27).
struct KeptBody: Hashable, Sendable {
    /// The media type in lower case, without parameters; `nil` if unknown.
    var mediaType: String?
    /// Whether the bytes begin like HTML.
    var isHTML = false
    /// The number of existing bytes.
    var count: Int64
    /// The length of the whole; `nil` if unknown.
    var total: Int64?
    /// Whether the server sent a validator.
    var isNamed = true
    /// Whether a response without a validator must not be shorter. Not for a complete file whose server has never
    /// sent a validator, because its length may change all the time.
    var hasLength = true

    /// Returns why a response cannot be another version; `nil` if it can. `fields` is its head, `length` the length
    /// of its body, if known.
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
        return .unexpectedContent(mediaType: type, length: length, expected: total ?? count)
    }

    private static func isHTML(_ mediaType: String?) -> Bool {
        mediaType == "text/html" || mediaType == "application/xhtml+xml"
    }

    /// Returns the media type of a `Content-Type` without its parameters; `nil` if there is none.
    static func mediaType(of fieldValue: String) -> String? {
        guard let text = fieldValue.split(separator: ";").first else { return nil }
        let type = Substring(text.utf8.trimmingHTTPWhitespace()).lowercased()
        return type.isEmpty ? nil : type
    }
}

extension KeptBody {
    /// - Parameters:
    ///   - partial: the kept bytes.
    ///   - isSameFile: whether they belong to the requested file. For another file, only HTML that would replace
    ///     something else is refused.
    ///   - hasLength: whether a response without a validator must not be shorter; not for another variant.
    init(_ partial: PartialContent, isSameFile: Bool = true, hasLength: Bool = true) {
        let type = partial.variant[0].flatMap(Self.mediaType(of:))
        mediaType = isSameFile ? type : nil
        isHTML = Self.isHTML(type)
        count = partial.offset
        total = partial.total
        isNamed = partial.entityTag != nil || partial.lastModified != nil
        self.hasLength = isSameFile && hasLength
    }
}
