/// The condition of a request for a newer file than the one on the disk: the server has another one (S30).
///
/// A 304 is believed unless it contradicts what was asked. Its fields are those that a 200 would have had
/// ([RFC 9110 §15.4.5](https://www.rfc-editor.org/rfc/rfc9110#section-15.4.5)):
///
/// | Field of the 304 | Contradicts                                                        |
/// |------------------|--------------------------------------------------------------------|
/// | `ETag`           | a tag that was asked with, if it is another one by weak comparison |
/// | `Last-Modified`  | a date that was asked with, if it is another one                   |
/// | `Content-Length` | the length of the file, if it is another one but 0, or no number   |
///
/// A length of 0 is that of the 304's own body: some servers say so of every answer without one, where the
/// field names the length of a 200 ([RFC 9110 §8.6](https://www.rfc-editor.org/rfc/rfc9110#section-8.6)).
struct FileCondition: Hashable, Sendable {
    /// The validator of the response that brought the file.
    private enum Validator: Hashable, Sendable {
        /// As it came.
        case entityTag(String)
        /// As it came.
        case lastModified(String)
    }

    private let validator: Validator
    /// The length of the file, in bytes.
    private let length: Int64

    /// The tag is what is asked by if there is one; `nil` where there is no validator.
    init?(entityTag: String?, lastModified: String?, length: Int64) {
        guard let validator = entityTag.map(Validator.entityTag) ?? lastModified.map(Validator.lastModified)
        else { return nil }
        self.validator = validator
        self.length = length
    }

    /// The name of the conditional field.
    var name: String {
        switch validator {
        case .entityTag: "If-None-Match"
        case .lastModified: "If-Modified-Since"
        }
    }

    /// The value of that field.
    var value: String {
        switch validator {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Whether a 304 with these fields is about another file than the one on the disk.
    func isContradicted(by fields: HeaderFields) -> Bool {
        if fields["Content-Length"] != nil, ![0, length].contains(fields.contentLength) { return true }
        switch validator {
        case .entityTag(let tag):
            let tags = fields.values(for: "ETag")
            return !tags.isEmpty && !EntityTag.areWeaklyEqual(tag, tags)
        case .lastModified(let date):
            return !fields.values(for: "Last-Modified").allSatisfy { $0.utf8.elementsEqual(date.utf8) }
        }
    }
}
