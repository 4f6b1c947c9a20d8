// What servers say of lengths may be any number, and so may their sums.

extension Int64 {
    /// The sum, or the number that is nearest to it.
    package func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    /// The whole part of `number`, or the number that is nearest to it; of no number 0.
    package init(saturated number: Double) {
        if let exact = Int64(exactly: number.rounded(.towardZero)) {
            self = exact
        } else {
            self = number.isNaN ? 0 : number < 0 ? .min : .max
        }
    }
}
