import Foundation
internal import OperationNetworkingSystem

/// The length of a response's body ([RFC 9112 §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)).
///
/// libcurl accepts malformed and conflicting lengths, so the length is checked here before the body.
enum MessageLength: Hashable, Sendable {
    /// The response has no body, whatever its fields say: HEAD, 1xx, 204, 304.
    case none
    /// The body has exactly this number of bytes.
    case exactly(Int64)
    /// The last chunk, or the end of an HTTP/2 stream, marks the end.
    case delimited
    /// The body ends when the connection closes.
    case untilClose

    /// An error in the length fields of a response. The associated value is their text.
    enum Failure: Error, Hashable, Sendable {
        /// `Content-Length` is not a number of bytes.
        case malformedLength(String)
        /// The response has several `Content-Length`s that differ.
        case conflictingLengths(String)
        /// `Transfer-Encoding` is not `chunked`. No other coding was requested (RFC 9110 §10.1.4), and
        /// libcurl decodes those that it knows without noticing a truncated body.
        case unknownTransferCoding(String)
    }

    /// Whether libcurl keeps the connection although it has read, and discarded, more than the response.
    var keepsConnectionDespiteExcess: Bool {
        switch self {
        case .none, .delimited: true
        case .exactly(let count): count == 0
        case .untilClose: false
        }
    }

    /// - Throws: `Failure`, since the end of the body is unknown.
    init(method: String, head: borrowing ResponseHead) throws(Failure) {
        let declared = try Self.declaredLength(head.fields)
        let hasNoBody = method == "HEAD" || head.isInterim || head.status == 204 || head.status == 304
        if hasNoBody {
            self = .none
        } else if try Self.isChunked(head.fields) {
            self = .delimited
        } else if let declared {
            self = .exactly(declared)
        } else if head.version.hasPrefix("HTTP/1") {
            self = .untilClose
        } else {
            self = .delimited
        }
    }

    /// Whether the body is chunked, whatever `Content-Length` says.
    static func isChunked(_ fields: HeaderFields) throws(Failure) -> Bool {
        guard let value = fields.combined(for: "Transfer-Encoding") else { return false }
        switch value.lowercased() {
        case "chunked": return true
        // It meant "none" until it was removed from HTTP (RFC 7230, appendix A.2).
        case "identity": return false
        default: throw .unknownTransferCoding(value)
        }
    }

    /// The value of `Content-Length`. A list of equal values is one value (RFC 9110 §8.6).
    static func declaredLength(_ fields: HeaderFields) throws(Failure) -> Int64? {
        var length: Int64?
        try fields.forEachValue(of: "Content-Length") { (value) throws(Failure) in
            var start = 0
            for end in 0...value.count where end == value.count || value[end] == UInt8(ascii: ",") {
                guard let number = number(value.extracting(start..<end)) else {
                    throw .malformedLength(String(value))
                }
                guard length == nil || length == number else {
                    throw .conflictingLengths(fields.values(for: "Content-Length").joined(separator: ", "))
                }
                length = number
                start = end + 1
            }
        }
        return length
    }

    /// The number in a text of digits with optional white space around them (RFC 9110 §5.6.3).
    private static func number(_ text: Span<UInt8>) -> Int64? {
        var (start, end) = (0, text.count)
        while start < end, isBlank(text[start]) { start += 1 }
        while start < end, isBlank(text[end - 1]) { end -= 1 }
        guard start < end else { return nil }
        var number: Int64 = 0
        for index in start..<end {
            guard text[index].isASCIIDigit else { return nil }
            let (shifted, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = shifted.addingReportingOverflow(Int64(text[index] - UInt8(ascii: "0")))
            guard !overflows, !isTooLarge else { return nil }
            number = sum
        }
        return number
    }

    private static func isBlank(_ octet: UInt8) -> Bool {
        octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t")
    }
}
