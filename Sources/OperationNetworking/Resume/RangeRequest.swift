internal import Foundation
internal import FoundationNetworking

/// The caller's own `Range`, and the check of a 206 response to it
/// ([RFC 9110 §14.2](https://www.rfc-editor.org/rfc/rfc9110#section-14.2)).
///
/// For a representation of `total` bytes:
///
/// | Field value      | Requests                               | The right `Content-Range`          |
/// |------------------|----------------------------------------|------------------------------------|
/// | `bytes=a-b`      | from `a` to `b`, or to the end         | `bytes a-min(b, total-1)/total`    |
/// | `bytes=a-`       | from `a` to the end                    | `bytes a-(total-1)/total`          |
/// | `bytes=-n`       | the last `n`, or all                   | `bytes max(0, total-n)-(total-1)/total` |
/// | `bytes=a-b, c-d` | all of these                           | from the first byte of all to the last, in one part |
/// | another unit     | something unknown                      | any range of that unit             |
/// | malformed        | nothing                                | none                               |
///
/// With `/*` as the total, `bytes=a-b` has to be answered with exactly these bytes, and `bytes=a-` with any end. The
/// RFC allows a server to send less, because a 206 says what it contains; here, that is an error.
struct RangeRequest: Hashable, Sendable {
    /// One range of bytes.
    enum Bytes: Hashable, Sendable {
        /// From the first position to the last, inclusive.
        case between(Int64, Int64)
        /// From a position to the end.
        case from(Int64)
        /// A number of bytes at the end.
        case last(Int64)

        /// Returns the bytes of a representation of `total` bytes; `nil` if there are none.
        func resolved(_ total: Int64) -> Range<Int64>? {
            let start: Int64
            var end = total
            switch self {
            case .between(let first, let last):
                start = first
                if last < total { end = last + 1 }
            case .from(let first): start = first
            case .last(let count): start = max(0, total - count)
            }
            return start < end ? start..<end : nil
        }
    }

    enum Requested: Hashable, Sendable {
        /// At least one range.
        case bytes([Bytes])
        case otherUnit(String)
        case malformed
    }

    /// The field value as the caller set it.
    let fieldValue: String
    let requested: Requested

    init(fieldValue: String) {
        self.fieldValue = fieldValue
        requested = Requested(fieldValue: fieldValue)
    }

    /// Returns `nil` if the request has no `Range`.
    init?(_ request: URLRequest) {
        guard let value = request.value(forHTTPHeaderField: "Range") else { return nil }
        self.init(fieldValue: value)
    }

    /// Checks the head of a 206 response.
    ///
    /// - Parameters:
    ///   - fields: the head.
    ///   - takesAnyPart: whether the receiver of the body looks at the head: then several parts are accepted if
    ///     several ranges were requested, and another unit if that was requested.
    /// - Returns: the range of the body; `nil` if it is not a range of bytes.
    /// - Throws: ``ResumeError`` if the response is not what was requested.
    func part(in fields: HeaderFields, takesAnyPart: Bool) throws(ResumeError) -> Range<Int64>? {
        if fields.isMultipartByteranges {
            guard takesAnyPart, case .bytes(let ranges) = requested, ranges.count > 1 else {
                throw .severalParts(requested: fieldValue)
            }
            return nil
        }
        let values = fields.values(for: "Content-Range")
        guard values.count == 1, let text = values.first else {
            throw .malformedContentRange(values.joined(separator: ", "))
        }
        let mismatch = ResumeError.rangeMismatch(requested: fieldValue, received: text)
        switch requested {
        case .malformed: throw mismatch
        case .otherUnit(let unit):
            guard takesAnyPart, let received = text.split(separator: " ").first,
                received.isEqualIgnoringASCIICase(to: unit)
            else { throw mismatch }
            return nil
        case .bytes(let ranges):
            let received = try ContentRange(fieldValue: text)
            guard let bytes = received.bytes, Self.is(bytes, of: received.total, in: ranges) else {
                throw mismatch
            }
            let count = bytes.upperBound - bytes.lowerBound
            if let length = fields.contentLength, length != count {
                throw .rangeLengthMismatch(range: count, body: length)
            }
            return bytes
        }
    }

    /// Whether these are the requested bytes.
    private static func `is`(_ bytes: Range<Int64>, of total: Int64?, in ranges: [Bytes]) -> Bool {
        if let total {
            let resolved = ranges.compactMap { $0.resolved(total) }
            return bytes.lowerBound == resolved.map(\.lowerBound).min()
                && bytes.upperBound == resolved.map(\.upperBound).max()
        }
        if case .from(let first) = ranges.first, ranges.count == 1 { return bytes.lowerBound == first }
        // Without a total, only ranges that name their end can be compared.
        var (start, end) = (Int64.max, Int64(0))
        for range in ranges {
            guard case .between(let first, let last) = range, last < .max else { return false }
            (start, end) = (min(start, first), max(end, last + 1))
        }
        return bytes == start..<end
    }
}

extension RangeRequest.Requested {
    fileprivate init(fieldValue: String) {
        let text = Substring(fieldValue.utf8.trimmingHTTPWhitespace())
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            self = .malformed
            return
        }
        guard parts[0].isEqualIgnoringASCIICase(to: "bytes") else {
            self = .otherUnit(String(parts[0]))
            return
        }
        var ranges: [RangeRequest.Bytes] = []
        // A list may have empty elements (RFC 9110 §5.6.1.2).
        for element in parts[1].split(separator: ",") {
            let element = Substring(element.utf8.trimmingHTTPWhitespace())
            guard !element.isEmpty else { continue }
            guard let range = RangeRequest.Bytes(element) else {
                self = .malformed
                return
            }
            ranges.append(range)
        }
        self = ranges.isEmpty ? .malformed : .bytes(ranges)
    }
}

extension RangeRequest.Bytes {
    /// Returns `nil` if the text is not a range, such as one that ends before its start.
    fileprivate init?(_ text: Substring) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (let first?, let last?):
            guard first <= last else { return nil }
            self = .between(first, last)
        case (let first?, nil) where ends[1].isEmpty: self = .from(first)
        case (nil, let count?) where ends[0].isEmpty: self = .last(count)
        default: return nil
        }
    }

    /// Parses a number. One beyond `Int64` becomes the largest: no representation is longer.
    private static func number(_ digits: Substring) -> Int64? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(digits: digits) ?? .max
    }
}
