// 206: whether its bytes may be joined to the kept ones.
extension ResumeDecision.Context {
    /// The range of a valid 206 response, and the length of the whole.
    private enum Part {
        case bytes(Range<Int64>, total: Int64?)
        case unusable(ResumeDecision)
    }

    /// Decides on a response to a request for the rest.
    func decision(onPartFrom offset: Int64, overlap: Int64, fields: HeaderFields) -> ResumeDecision {
        let (bytes, said): (Range<Int64>, Int64?)
        switch part(in: fields) {
        case .unusable(let decision): return decision
        case .bytes(let range, let total): (bytes, said) = (range, total)
        }
        let evidence = evidence(in: fields)
        guard evidence != .different else {  // S11
            guard hasOnlyOtherTag(fields, total: said) else { return restartAfterChange(.resourceChanged) }
            return comparesUnproven ? .ask(.comparison) : restartAfterChange(.entityTagChanged)
        }
        guard fits(bytes, total: said) else { return restartAfterChange(.resourceChanged) }  // S5
        if let partial, partial.isOtherVariant(in: fields) {  // S15
            guard case .strongETag = partial.validator, evidence == .equal else {
                return restartAfterChange(.variantChanged)
            }
        }
        // S12: only the validator proves that the bytes are the same. A server that supports If-Range repeats a tag
        // (RFC 9110 §15.3.7). For a date, and for other servers, only the bytes prove anything.
        guard evidence == .equal || overlap > 0 else {
            return abilities.canCompare(last: min(offset, ResumeRequest.overlapLength))
                ? .ask(.overlap) : restart(because: .validatorMissing, or: .representationChanged)
        }
        // S6
        guard let total = said ?? (evidence == .equal ? partial?.total : nil) else {
            return restart(because: .invalidResponse, or: .representationChanged)
        }
        // S4: a part may end early, but its length has to be known.
        guard bytes.upperBound == total || fields.contentLength != nil else {
            return restart(
                because: .invalidResponse,
                or: .malformedContentRange(fields["Content-Range"] ?? "")
            )
        }
        return evidence == .equal
            ? join(bytes, at: offset, overlap: overlap, total: total)
            : compare(bytes, at: offset, overlap: overlap, total: total)
    }

    /// S12: all of the overlap has to be received, because nothing else proves that the rest belongs to it.
    private func compare(_ bytes: Range<Int64>, at offset: Int64, overlap: Int64, total: Int64)
        -> ResumeDecision
    {
        let start = offset - overlap
        let error = ResumeError.offsetMismatch(requested: start, received: bytes.lowerBound)
        if bytes.lowerBound > start { return repeatOnce(or: error) }
        guard abilities.canCompare(last: offset - bytes.lowerBound), bytes.upperBound >= offset else {
            return restart(because: .invalidResponse, or: error)
        }
        return .compare(from: bytes.lowerBound, total: total, isProven: false)
    }

    /// Decides on a response to a request for bytes that are partly kept (P10 to P12, on request of the caller): the
    /// metadata has to be equal, and then the bytes.
    func decision(onOverlap range: Range<Int64>, fields: HeaderFields) -> ResumeDecision {
        let (bytes, said): (Range<Int64>, Int64?)
        switch part(in: fields) {
        case .unusable(let decision): return decision
        case .bytes(let range, let total): (bytes, said) = (range, total)
        }
        guard let partial, let total = partial.total ?? (partial.isForeign ? said : nil), said == total,
            fits(bytes, total: said), partial.isForeign || isLike(partial, fields, total: said)
        else { return restartAfterChange(.resourceChanged) }
        guard bytes.lowerBound == range.lowerBound, bytes.upperBound >= range.upperBound,
            abilities.canCompare
        else {
            return restart(because: .validatorMissing, or: .representationChanged)
        }
        return .compare(from: bytes.lowerBound, total: total, isProven: false)
    }

    /// Whether all metadata of the whole is unchanged; for a foreign file (P20) there was none.
    private func isLike(_ partial: PartialContent, _ fields: HeaderFields, total: Int64?) -> Bool {
        partial.lastModified == fields["Last-Modified"] && !partial.isOtherVariant(in: fields)
            && (hasOnlyOtherTag(fields, total: total)
                || EntityTag.areWeaklyEqual(partial.entityTag, fields.values(for: "ETag")))
    }

    private func part(in fields: HeaderFields) -> Part {
        func unusable(_ text: String) -> Part {
            .unusable(restart(because: .invalidResponse, or: .malformedContentRange(text)))
        }
        guard !fields.isMultipartByteranges else { return unusable("") }  // S8
        let ranges = fields.values(for: "Content-Range")
        guard ranges.count == 1, let text = ranges.first else {
            return unusable(ranges.joined(separator: ", "))  // S7
        }
        guard let range = try? ContentRange(fieldValue: text), let bytes = range.bytes else {
            return unusable(text)  // S9, S10
        }
        guard !fields.hasContentCoding else {  // S13
            return .unusable(restart(because: .contentCoded, or: .representationChanged))
        }
        if fields["Content-Length"] != nil, fields.contentLength != bytes.upperBound - bytes.lowerBound {
            return .unusable(repeatOnce(or: .malformedContentRange(text)))  // S14
        }
        return .bytes(bytes, total: range.total)
    }

    /// Whether the part fits the known whole.
    private func fits(_ bytes: Range<Int64>, total: Int64?) -> Bool {
        guard let known = partial?.total else { return true }
        return known == total ?? known && bytes.upperBound <= known
    }

    /// S1 to S3.
    private func join(_ bytes: Range<Int64>, at offset: Int64, overlap: Int64, total: Int64) -> ResumeDecision
    {
        let error = ResumeError.offsetMismatch(requested: offset - overlap, received: bytes.lowerBound)
        if bytes.lowerBound == offset { return .append(total: total) }  // S1
        if bytes.lowerBound > offset { return repeatOnce(or: error) }  // S3
        let isComparable =
            abilities.canCompare || offset - bytes.lowerBound <= min(overlap, abilities.keptCount)
        guard isComparable, bytes.upperBound >= offset else {
            return restart(because: .invalidResponse, or: error)
        }
        return .compare(from: bytes.lowerBound, total: total)  // S2
    }
}
