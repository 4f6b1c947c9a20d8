/// The value of a `Content-Range` field: the bytes of the whole that a partial response holds.
///
/// | Field value            | `bytes`      | `total` |
/// |------------------------|--------------|---------|
/// | `bytes 500-999/1234`   | `500..<1000` | `1234`  |
/// | `bytes 500-999/*`      | `500..<1000` | `nil`   |
/// | `bytes */1234`         | `nil`        | `1234`  |
///
/// Offsets and `total` count bytes of the representation as sent, after `Content-Encoding`: see
/// [RFC 9110 §14.4](https://www.rfc-editor.org/rfc/rfc9110#section-14.4). A value in another unit, with an
/// end before its start or behind the total, or with a number beyond `Int64`, is not a content range.
struct ContentRange: Hashable, Sendable {
    /// Never empty; `nil` when the range that was asked for cannot be satisfied.
    let bytes: Range<Int64>?
    /// The length of the whole, `nil` when the server does not know it. Never `nil` together with `bytes`.
    let total: Int64?

    /// - Parameter fieldValue: as received; white space around it does not matter.
    /// - Throws: ``ResumeError/malformedContentRange(_:)``.
    init(fieldValue: String) throws(ResumeError) {
        let malformed = ResumeError.malformedContentRange(fieldValue)
        let text = Substring(fieldValue.utf8.trimmingHTTPWhitespace())
        let unitAndRange = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard unitAndRange.count == 2, unitAndRange[0].isEqualIgnoringASCIICase(to: "bytes") else {
            throw malformed
        }
        let rangeAndTotal = unitAndRange[1].split(separator: "/", omittingEmptySubsequences: false)
        guard rangeAndTotal.count == 2 else { throw malformed }

        if rangeAndTotal[1] == "*" {
            total = nil
        } else {
            guard let number = Int64(digits: rangeAndTotal[1]) else { throw malformed }
            total = number
        }
        if rangeAndTotal[0] == "*" {
            guard total != nil else { throw malformed }
            bytes = nil
        } else {
            let positions = rangeAndTotal[0].split(separator: "-", omittingEmptySubsequences: false)
            guard positions.count == 2, let first = Int64(digits: positions[0]),
                let last = Int64(digits: positions[1]), first <= last, last < total ?? .max
            else { throw malformed }
            bytes = first..<last + 1  // cannot overflow: the last position is less than Int64.max
        }
    }

    /// Whether these are all bytes of the whole. `length` is that of the content, if it is known.
    func isWhole(_ length: Int64?) -> Bool {
        guard let bytes else { return false }
        return bytes.lowerBound == 0 && bytes.upperBound == total ?? bytes.upperBound
            && bytes.upperBound == length ?? bytes.upperBound
    }
}

extension HeaderFields {
    /// Whether the `Content-Range` of a success that is not a 206 says that the body is the whole, or there
    /// is none (RFC 9110 §14.4: it means nothing there, and the server may have forgotten the status).
    /// `count` is the number of bytes that came; `nil`: as `Content-Length` has it.
    func saysWhole(count: Int64? = nil) -> Bool {
        values(for: "Content-Range").allSatisfy { value in
            (try? ContentRange(fieldValue: value))?.isWhole(count ?? contentLength) ?? false
        }
    }
}
