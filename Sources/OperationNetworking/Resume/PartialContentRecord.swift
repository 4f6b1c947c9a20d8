/// A ``PartialContent`` with a strong validator, written down for a later process.
///
/// Absent is what the response did not have. A record that makes no sense is nothing to go on with.
struct PartialContentRecord: Hashable, Codable, Sendable {
    private let url: String?
    private let total: Int64?
    private let entityTag: String?
    /// The strong `Last-Modified` of a response without a tag.
    private let date: String?
    private let contentType: String?
    private let contentLocation: String?

    /// `nil` for one whose rest cannot be asked for by a validator.
    init?(_ partial: PartialContent) {
        guard partial.isNamed, !partial.refusesRanges else { return nil }
        url = partial.url
        total = partial.total
        entityTag = partial.entityTag
        if case .strongDate(let text) = partial.validator { date = text } else { date = nil }
        (contentType, contentLocation) = (partial.variant[0], partial.variant[1])
    }

    /// The content, with the number of bytes that were kept.
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
    /// One with a strong validator, in no content coding.
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
