internal import Foundation

/// The dates that a format can represent.
///
/// Foundation's encoders do not fail for other dates: they write the last year of their calendar, a year of
/// the Julian period for NaN, or digits that are not a date.
enum DateSpan {
    /// Every date; the encoder throws for dates that it cannot write.
    case all
    /// Dates with a finite number of seconds, in any year: the binary property list.
    case finite
    /// The years 1 to 9999, with four digits, as in ISO 8601, RFC 3339 and XML property lists.
    case fourDigitYears

    /// Whether the format can represent the date.
    func contains(_ date: Date) -> Bool {
        let seconds = date.timeIntervalSince1970
        return switch self {
        case .all: true
        case .finite: seconds.isFinite
        // From `Date.distantPast`, which is January 1 of the year 1 in Foundation's calendar.
        case .fourDigitYears: (-62_135_769_600..<253_402_300_800).contains(seconds)
        }
    }
}
