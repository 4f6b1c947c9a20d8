/// The condition of a request: the server sends the file only if it differs from the one on disk (S30).
///
/// A 304 response is trusted unless it contradicts the condition. Its fields are those that a 200 would have had
/// ([RFC 9110 §15.4.5](https://www.rfc-editor.org/rfc/rfc9110#section-15.4.5)):
///
/// | Field of the 304 | Contradicts                                                            |
/// |------------------|------------------------------------------------------------------------|
/// | `ETag`           | the tag of the condition, if it differs by weak comparison             |
/// | `Last-Modified`  | the date of the condition, if it differs                               |
/// | `Content-Length` | the length of the file, if it differs and is not 0, or is not a number |
///
/// Some servers send the length of the 304's own body, 0, although the field should be the length of a 200 ([RFC 9110
/// §8.6](https://www.rfc-editor.org/rfc/rfc9110#section-8.6)).
struct FileCondition: Hashable, Sendable {
    /// The validator that was received with the file.
    private enum Validator: Hashable, Sendable {
        /// The field value as received.
        case entityTag(String)
        /// The field value as received.
        case lastModified(String)
    }

    private let validator: Validator
    /// The length of the file, in bytes.
    private let length: Int64

    /// Creates the condition by the tag or, failing that, by the date; `nil` if there is neither.
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

    /// Whether a 304 response with these fields describes another file than the one on disk.
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
