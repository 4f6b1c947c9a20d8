internal import Foundation

/// The dates that a format can hold.
///
/// Foundation's writers never fail for the others: they write the last year that their calendar knows, a year
/// of the Julian period for NaN, or digits that are no date.
enum DateSpan {
    /// Every date; the writer throws for one that it cannot write.
    case all
    /// Dates that are a number of seconds, in any year: the binary property list.
    case finite
    /// The years 1 to 9999: four digits, as in ISO 8601, RFC 3339 and XML property lists.
    case fourDigitYears

    /// Whether the format can hold the date.
    func contains(_ date: Date) -> Bool {
        let seconds = date.timeIntervalSince1970
        return switch self {
        case .all: true
        case .finite: seconds.isFinite
        // From `Date.distantPast`, which is the first of January of the year 1 in Foundation's calendar.
        case .fourDigitYears: (-62_135_769_600..<253_402_300_800).contains(seconds)
        }
    }
}
