/// The saved form of a ``PartialContent`` with a strong validator, for a later process.
///
/// A value that the response did not have is absent. An invalid record yields no content.
struct PartialContentRecord: Hashable, Codable, Sendable {
    private let url: String?
    private let total: Int64?
    private let entityTag: String?
    /// The strong `Last-Modified` of a response without a tag.
    private let date: String?
    private let contentType: String?
    private let contentLocation: String?

    /// Returns `nil` if the rest cannot be requested by a validator.
    init?(_ partial: PartialContent) {
        guard partial.isNamed, !partial.refusesRanges else { return nil }
        url = partial.url
        total = partial.total
        entityTag = partial.entityTag
        if case .strongDate(let text) = partial.validator { date = text } else { date = nil }
        (contentType, contentLocation) = (partial.variant[0], partial.variant[1])
    }

    /// Returns the content with the number of kept bytes; `nil` if the record is invalid.
    func partialContent(offset: Int64) -> PartialContent? {
        let validator: EntityValidator
        if let entityTag {
            guard let tag = EntityTag(fieldValue: entityTag), !tag.isWeak else { return nil }
            validator = .strongETag(tag)
        } else {
            guard let date, HTTPDate(fieldValue: date) != nil else { return nil }
            validator = .strongDate(date)
        }
        guard offset > 0, total.map({ offset < $0 }) ?? true else { return nil }
        return PartialContent(
            offset: offset,
            total: total,
            url: url,
            validator: validator,
            variant: [contentType, contentLocation]
        )
    }
}

extension PartialContent {
    /// Creates content with a strong validator and without a content coding.
    fileprivate init(
        offset: Int64,
        total: Int64?,
        url: String?,
        validator: EntityValidator,
        variant: [String?]
    ) {
        self.offset = offset
        self.total = total
        self.url = url
        self.validator = validator
        self.variant = variant
        if case .strongETag(let tag) = validator { entityTag = tag.rawValue } else { entityTag = nil }
        if case .strongDate(let text) = validator { strongDate = text } else { strongDate = nil }
        lastModified = strongDate
        isCoded = false
        refusesRanges = false
    }
}
