internal import Foundation
internal import FoundationNetworking

/// The bytes to ask for when a request is sent, for the first time or again: the P rows.
enum ResumeRequest: Hashable, Sendable {
    /// Everything, without a `Range`: no bytes are kept, or none that could be continued.
    case whole
    /// Everything, with `no-transform`, since a proxy has changed the coding of an answer (S13).
    case wholeUntransformed
    /// The bytes from `offset` on, which is never 0, if they still are of the same whole. `ifRange` is the
    /// value of `If-Range`; without it the answer has to repeat the validator (S21). With an `overlap`, the
    /// range begins `overlap` bytes earlier: these are compared, for the server does not repeat the validator
    /// (S12).
    case rest(from: Int64, ifRange: String?, overlap: Int64 = 0)
    /// The bytes from `start` on, although they are kept up to `to`: they are compared (P10-P12, opt-in).
    /// `ifUnmodifiedSince` is the value of that field, if there is a date to rely on.
    case overlap(from: Int64, to: Int64, ifUnmodifiedSince: String?)
    /// Nothing but the head: whether the server has just the kept bytes (S34, S35).
    case confirmation
    /// Nothing: the kept bytes are the whole (P7). `bytes=total-` would be answered with 416.
    case nothing
    /// The caller's own `Range`: its answer has to be that, and is never continued. `nil`: the answer has no
    /// body.
    case ownRange(RangeRequest?)

    /// Bytes that are compared where a server does not repeat the validator (S12), or as many as there are.
    static let overlapLength: Int64 = 64 * 1024

    /// - Parameters:
    ///   - request: the caller's.
    ///   - partial: what was received of an earlier answer to it, `nil` when nothing was.
    ///   - overlap: the number of bytes to compare when no strong validator proves that they are the same;
    ///     `nil`: such bytes are not kept.
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

    /// Only a GET without a body asks for nothing but bytes; anything else would be done twice (P15, F8). A
    /// caller's own `If-Range` belongs to a question that is not ours.
    static func mayContinue(_ request: URLRequest) -> Bool {
        (request.httpMethod ?? "GET") == "GET" && (request.httpBody ?? Data()).isEmpty
            && request.httpBodyStream == nil && request.value(forHTTPHeaderField: "If-Range") == nil
    }

    /// The method to send instead of the caller's; `nil`: the caller's.
    var method: String? { self == .confirmation ? "HEAD" : nil }

    /// The fields to send besides the caller's; they replace fields of the same name.
    ///
    /// `Accept-Encoding: identity` keeps the bytes countable (P1, P13). Leave it out of a transfer that is
    /// never going to be continued.
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
