// Lengths that servers announce can be any number, and so can their sums.

extension Int64 {
    /// The sum, clamped to the range of `Int64`.
    package func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    /// The integer part of `number`, clamped to the range of `Int64`; 0 for NaN.
    package init(saturated number: Double) {
        if let exact = Int64(exactly: number.rounded(.towardZero)) {
            self = exact
        } else {
            self = number.isNaN ? 0 : number < 0 ? .min : .max
        }
    }
}
