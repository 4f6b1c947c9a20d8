/// The bytes of a representation that a partial response carries: the value of a `Content-Range` field.
///
/// | Field value            | `bytes`      | `total` |
/// |------------------------|--------------|---------|
/// | `bytes 500-999/1234`   | `500..<1000` | `1234`  |
/// | `bytes 500-999/*`      | `500..<1000` | `nil`   |
/// | `bytes */1234`         | `nil`        | `1234`  |
///
/// Offsets and `total` count bytes of the representation as sent, after `Content-Encoding`: see [RFC 9110
/// §14.4](https://www.rfc-editor.org/rfc/rfc9110#section-14.4). Values in other units, with an end before the start
/// or beyond the total, or with a number beyond `Int64`, are malformed.
struct ContentRange: Hashable, Sendable {
    /// The range, which is never empty; `nil` if the requested range cannot be satisfied.
    let bytes: Range<Int64>?
    /// The length of the whole; `nil` if the server does not know it. Never `nil` together with `bytes`.
    let total: Int64?

    /// - Parameter fieldValue: the value as received; surrounding white space is ignored.
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

    /// Whether these are all bytes of the whole. `length` is that of the content, if known.
    func isWhole(_ length: Int64?) -> Bool {
        guard let bytes else { return false }
        return bytes.lowerBound == 0 && bytes.upperBound == total ?? bytes.upperBound
            && bytes.upperBound == length ?? bytes.upperBound
    }
}

extension HeaderFields {
    /// Whether the `Content-Range` of a successful response other than 206 is absent or says that the body is the
    /// whole. The field has no meaning there (RFC 9110 §14.4), but the server may have forgotten the status. `count`
    /// is the number of received bytes; `nil` for the `Content-Length`.
    func saysWhole(count: Int64? = nil) -> Bool {
        values(for: "Content-Range").allSatisfy { value in
            (try? ContentRange(fieldValue: value))?.isWhole(count ?? contentLength) ?? false
        }
    }
}
