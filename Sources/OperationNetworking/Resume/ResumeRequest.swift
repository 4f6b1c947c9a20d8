internal import Foundation
internal import FoundationNetworking

/// What to ask for when a request is sent, for the first time or again: the P rows.
enum ResumeRequest: Hashable, Sendable {
    /// Everything, without a `Range`: there is nothing yet, or nothing that could be continued.
    case whole
    /// The bytes from `offset` on, which is never 0, if they still are of the same whole. `ifRange` is the
    /// value of `If-Range`; this package never asks without one, and an answer to such a question proves
    /// nothing.
    case rest(from: Int64, ifRange: String?)
    /// Nothing: all bytes are there (P7). `bytes=total-` would be answered with 416.
    case nothing
    /// What the caller's own `Range` says: its answer is a response like any other, and never continued.
    case ownRange

    /// - Parameters:
    ///   - request: the caller's.
    ///   - partial: what was received of an earlier answer to it, `nil` when nothing was.
    init(_ request: URLRequest, continuing partial: PartialContent?) {
        if request.value(forHTTPHeaderField: "Range") != nil {
            self = .ownRange
        } else if let partial, ResumeRequest.mayContinue(request) {
            self.init(continuing: partial)
        } else {
            self = .whole  // P1, P15
        }
    }

    private init(continuing partial: PartialContent) {
        guard partial.offset > 0, !partial.isCoded, !partial.refusesRanges else {  // P1 (F6), P13, P14
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
            self = .whole
        }
    }

    /// Only a GET without a body asks for nothing but bytes; anything else would be done twice (P15, F8). A
    /// caller's own `If-Range` belongs to a question that is not ours.
    private static func mayContinue(_ request: URLRequest) -> Bool {
        (request.httpMethod ?? "GET") == "GET" && (request.httpBody ?? Data()).isEmpty
            && request.httpBodyStream == nil && request.value(forHTTPHeaderField: "If-Range") == nil
    }

    /// The fields to send besides the caller's; they replace fields of the same name.
    ///
    /// `Accept-Encoding: identity` keeps the bytes countable (P1, P13). Leave it out of a transfer that is
    /// never going to be continued.
    var fields: HeaderFields {
        switch self {
        case .whole:
            ["Accept-Encoding": "identity"]
        case .rest(let offset, let ifRange?):
            ["Accept-Encoding": "identity", "Range": "bytes=\(offset)-", "If-Range": ifRange]
        case .rest(let offset, nil):
            ["Accept-Encoding": "identity", "Range": "bytes=\(offset)-"]
        case .nothing, .ownRange:
            [:]
        }
    }
}
