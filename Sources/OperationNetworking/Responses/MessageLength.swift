import Foundation

/// The length of a response's body, and so its end
/// ([RFC 9112 §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)).
///
/// libcurl lets malformed and conflicting lengths pass, so the length is judged here, before the body.
enum MessageLength: Hashable, Sendable {
    /// There is no body, whatever the fields say: HEAD, 1xx, 204, 304.
    case none
    /// Exactly this number of bytes.
    case exactly(Int64)
    /// The last chunk, or the end of an HTTP/2 stream, says that it was the end.
    case delimited
    /// The body lasts until the connection closes.
    case untilClose

    /// The error of a response's length fields; the associated value is their text.
    enum Failure: Error, Hashable, Sendable {
        /// A `Content-Length` that is not a number of bytes.
        case malformedLength(String)
        /// Several `Content-Length`s that differ.
        case conflictingLengths(String)
        /// A `Transfer-Encoding` other than `chunked`. None was asked for (RFC 9110 §10.1.4), and libcurl
        /// undoes those it knows without noticing that one breaks off.
        case unknownTransferCoding(String)
    }

    /// - Throws: `Failure`. The end of the body is then unknown.
    init(method: String, head: ResponseHead) throws(Failure) {
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

    private static func isChunked(_ fields: HeaderFields) throws(Failure) -> Bool {
        guard let value = fields.combined(for: "Transfer-Encoding") else { return false }
        switch value.lowercased() {
        case "chunked": return true
        // It meant "none" before it was taken out of HTTP (RFC 7230 appendix A.2).
        case "identity": return false
        default: throw .unknownTransferCoding(value)
        }
    }

    /// The value of `Content-Length`. A list of equal values is one value (RFC 9110 §8.6).
    static func declaredLength(_ fields: HeaderFields) throws(Failure) -> Int64? {
        var length: Int64?
        for value in fields.values(for: "Content-Length") {
            for item in value.split(separator: ",", omittingEmptySubsequences: false) {
                let digits = item.trimmingBlanks
                guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }),
                    let number = Int64(digits)
                else { throw .malformedLength(value) }
                guard length == nil || length == number else {
                    throw .conflictingLengths(fields.values(for: "Content-Length").joined(separator: ", "))
                }
                length = number
            }
        }
        return length
    }
}

extension Substring {
    /// Without the optional white space of RFC 9110 §5.6.3 around it.
    fileprivate var trimmingBlanks: Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let last = lastIndex(where: { !isBlank($0) }) else { return "" }
        return self[...last].drop(while: isBlank)
    }
}
