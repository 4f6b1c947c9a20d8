/// The part of a stored response that answers a request, if the held bytes suffice
/// ([RFC 9111 §3.3](https://www.rfc-editor.org/rfc/rfc9111#section-3.3)).
///
/// | Request                                       | Complete        | Part                              |
/// |-----------------------------------------------|-----------------|-----------------------------------|
/// | no `Range`                                    | whole           | none                              |
/// | HEAD                                          | no body         | none                              |
/// | one range, held                               | these bytes     | these bytes                       |
/// | one range, partly held                        | what there is   | none                              |
/// | one range behind the end                      | 416             | none                              |
/// | one range, and an `If-Range` of another version | whole         | none                              |
/// | several ranges, another unit, malformed       | none            | none                              |
///
/// None: the server answers. Of a response that cannot be divided, such as a 404, a range is no matter.
enum CacheSelection: Hashable, Sendable {
    case whole
    case bytes(Range<Int64>)
    /// No byte of the range exists; the length is this.
    case unsatisfiable(Int64)

    init?(_ candidate: CachedHead, _ request: CacheRequest) {
        let isComplete = candidate.body.isComplete
        guard let range = request.range, candidate.head.status == 200 || candidate.head.status == 206 else {
            guard isComplete else { return nil }
            self = .whole
            return
        }
        // A decoded body has other positions.
        guard !candidate.isDecoded, case .bytes(let ranges) = range.wish, let wish = ranges.first,
            ranges.count == 1
        else { return nil }
        if let ifRange = request.fields["If-Range"], !Self.isSame(ifRange, candidate) {
            guard isComplete else { return nil }
            self = .whole
            return
        }
        let held = candidate.body.range
        if let length = candidate.body.completeLength {
            if let bytes = wish.resolved(length) {
                guard held.lowerBound <= bytes.lowerBound, bytes.upperBound <= held.upperBound else {
                    return nil
                }
                self = .bytes(bytes)
            } else {
                guard isComplete else { return nil }
                self = .unsatisfiable(length)
            }
        } else {
            guard case .between(let first, let last) = wish, held.lowerBound <= first, first <= last,
                last < held.upperBound
            else { return nil }
            self = .bytes(first..<last + 1)
        }
    }

    /// Whether `If-Range` names the stored version, by a strong validator (RFC 9110 §13.1.5).
    private static func isSame(_ ifRange: String, _ candidate: CachedHead) -> Bool {
        switch candidate.validator {
        case .strongETag(let tag): EntityTag(fieldValue: ifRange) == tag
        case .strongDate(let date): date == ifRange
        case .weak, .none: false
        }
    }
}
