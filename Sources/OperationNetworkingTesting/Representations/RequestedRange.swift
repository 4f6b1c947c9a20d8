/// The range that a `Range` field asks for, of a representation of `length` bytes, as
/// [RFC 9110 §14.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-14.1.2) has it.
enum RequestedRange: Hashable, Sendable {
    /// Everything: there is no such field, or one that is to be ignored (malformed, another unit, several
    /// ranges).
    case whole
    /// These bytes.
    case bytes(Range<Int>)
    /// Bytes the representation does not have.
    case unsatisfiable

    /// Reads the value of the field.
    init(_ fieldValue: String?, length: Int) {
        self = .whole
        guard let fieldValue else { return }
        let parts = fieldValue.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(\.trimmed)
        guard ends.count == 2 else { return }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < length ? .bytes(first..<min(last, length - 1) + 1) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            self = first < length ? .bytes(first..<length) : .unsatisfiable
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && length > 0 ? .bytes(max(0, length - count)..<length) : .unsatisfiable
        default: return
        }
    }

    /// Digits only: `Int` itself would also take a sign.
    private static func number(_ digits: Substring) -> Int? {
        digits.allSatisfy { ("0"..."9").contains($0) } ? Int(digits) : nil
    }
}
