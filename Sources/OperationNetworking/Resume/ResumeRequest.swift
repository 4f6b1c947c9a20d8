internal import Foundation
internal import FoundationNetworking

/// The bytes to request, the first time or again: the P rows.
enum ResumeRequest: Hashable, Sendable {
    /// The whole, without a `Range`: no bytes are kept, or none that can be resumed.
    case whole
    /// The whole, with `no-transform`, because a proxy changed the content coding (S13).
    case wholeUntransformed
    /// The bytes from `offset`, which is never 0, if the whole has not changed. `ifRange` is the value of `If-Range`;
    /// without it, the response has to repeat the validator (S21). With an `overlap`, the range begins that many
    /// bytes earlier, and they are compared, because the server does not repeat the validator (S12).
    case rest(from: Int64, ifRange: String?, overlap: Int64 = 0)
    /// The bytes from `start`, although they are kept up to `to`: they are compared (P10 to P12, on request of the
    /// caller). `ifUnmodifiedSince` is the value of that field, if there is a reliable date.
    case overlap(from: Int64, to: Int64, ifUnmodifiedSince: String?)
    /// Only the head, to confirm that the server has exactly the kept bytes (S34, S35).
    case confirmation
    /// Nothing: the kept bytes are the whole (P7). `bytes=total-` would be answered with 416.
    case nothing
    /// The caller's own `Range`: the response has to match it and is never resumed. `nil` if the response has no
    /// body.
    case ownRange(RangeRequest?)

    /// The maximum number of bytes to compare where a server does not repeat the validator (S12).
    static let overlapLength: Int64 = 64 * 1024

    /// - Parameters:
    ///   - request: the caller's request.
    ///   - partial: the received part of an earlier response; `nil` if nothing was received.
    ///   - overlap: the number of bytes to compare if no strong validator proves that they are the same; `nil` to
    ///     discard such bytes.
    init(_ request: URLRequest, continuing partial: PartialContent?, comparing overlap: Int64? = nil) {
        if let range = RangeRequest(request) {
            self = .ownRange(request.httpMethod?.uppercased() == "HEAD" ? nil : range)
        } else if let partial, ResumeRequest.mayContinue(request) {
            self.init(continuing: partial, comparing: overlap)
        } else {
            self = .whole  // P1, P15
        }
    }

    private init(continuing partial: PartialContent, comparing overlap: Int64?) {
        guard partial.offset > 0, !partial.isCoded, !partial.refusesRanges,  // P1 (F6), P13, P14
            !partial.isRefuted  // B10
        else {
            self = .whole
            return
        }
        if let total = partial.total, partial.offset >= total {
            self = partial.offset == total ? .nothing : .whole  // P7
            return
        }
        switch partial.validator {
        case .strongETag, .strongDate:  // P8, P9 (F4)
            self = .rest(from: partial.offset, ifRange: partial.validator.ifRange)
        case .weak, .none:  // P10, P11, P12
            guard let overlap, overlap > 0, partial.total != nil || partial.isForeign else {
                self = .whole
                return
            }
            self = .overlap(
                from: max(0, partial.offset - overlap),
                to: partial.offset,
                ifUnmodifiedSince: partial.strongDate
            )
        }
    }

    /// Whether a request can be resumed: only a GET without a body requests nothing but bytes; anything else would be
    /// done twice (P15). A caller's own `If-Range` belongs to bytes that are not ours.
    static func mayContinue(_ request: URLRequest) -> Bool {
        (request.httpMethod ?? "GET") == "GET" && (request.httpBody ?? Data()).isEmpty
            && request.httpBodyStream == nil && request.value(forHTTPHeaderField: "If-Range") == nil
    }

    /// The method to send instead of the caller's; `nil` for the caller's.
    var method: String? { self == .confirmation ? "HEAD" : nil }

    /// The fields to add to the caller's; they replace fields of the same name.
    ///
    /// `Accept-Encoding: identity` keeps offsets meaningful (P1, P13). It is omitted from transfers that are never
    /// resumed.
    var fields: HeaderFields {
        var fields: HeaderFields = ["Accept-Encoding": "identity"]
        switch self {
        case .whole, .confirmation:
            break
        case .wholeUntransformed:
            fields["Cache-Control"] = "no-transform"
        case .rest(let offset, let ifRange, let overlap):
            fields["Range"] = "bytes=\(offset - overlap)-"
            fields["If-Range"] = ifRange
        case .overlap(let start, _, let ifUnmodifiedSince):
            fields["Range"] = "bytes=\(start)-"
            fields["If-Unmodified-Since"] = ifUnmodifiedSince
        case .nothing, .ownRange:
            return [:]
        }
        return fields
    }
}
