/// The bytes of a stored response that answer a request
/// ([RFC 9110 §14.2](https://www.rfc-editor.org/rfc/rfc9110#section-14.2)).
///
/// | Request                                         | Answer          |
/// |-------------------------------------------------|-----------------|
/// | no `Range`                                      | whole           |
/// | HEAD                                            | no body         |
/// | one range                                       | its existing bytes |
/// | one range after the end                         | 416             |
/// | one range, and an `If-Range` of another version | whole           |
/// | several ranges, another unit, malformed         | none            |
///
/// "None" means that the server has to answer. For a response that cannot be divided, such as a 404, a range
/// is ignored.
enum CacheSelection: Hashable, Sendable {
    case whole
    case bytes(Range<Int64>)
    /// No byte of the range exists. The associated value is the length.
    case unsatisfiable(Int64)

    init?(_ candidate: CachedHead, _ request: CacheRequest) {
        guard let range = request.range, candidate.head.status == 200 else {
            self = .whole
            return
        }
        // The offsets of a decoded body differ.
        guard !candidate.isDecoded, case .bytes(let ranges) = range.requested, let requested = ranges.first,
            ranges.count == 1
        else { return nil }
        if let ifRange = request.fields["If-Range"], !Self.isSame(ifRange, candidate) {
            self = .whole
        } else if let bytes = requested.resolved(candidate.length) {
            self = .bytes(bytes)
        } else {
            self = .unsatisfiable(candidate.length)
        }
    }

    /// Whether `If-Range` names the stored version with a strong validator (RFC 9110 §13.1.5).
    private static func isSame(_ ifRange: String, _ candidate: CachedHead) -> Bool {
        switch candidate.validator {
        case .strongETag(let tag): EntityTag(fieldValue: ifRange) == tag
        case .strongDate(let date): date == ifRange
        case .weak, .none: false
        }
    }
}
