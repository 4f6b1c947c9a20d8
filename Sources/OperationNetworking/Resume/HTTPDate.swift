internal import Foundation

/// A moment to the second, in one of the three formats of
/// [RFC 9110 §5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7).
///
/// | Format        | Example                          |
/// |---------------|----------------------------------|
/// | IMF-fixdate   | `Sun, 06 Nov 1994 08:49:37 GMT`  |
/// | RFC 850       | `Sunday, 06-Nov-94 08:49:37 GMT` |
/// | asctime       | `Sun Nov  6 08:49:37 1994`       |
///
/// Strict, since a date that is believed lets bytes of two responses be joined: exact spacing and case, a day
/// that exists, the day of the week that it was. Nothing is ever formatted again; what is sent back is the
/// text that came.
struct HTTPDate: Hashable, Sendable, Comparable {
    /// Since 1970-01-01 00:00:00 UTC, leap seconds not counted.
    let secondsSince1970: Int64

    /// - Parameters:
    ///   - fieldValue: as received; white space around it does not matter.
    ///   - now: gives a year of two digits its century; it is at most 50 years ahead.
    init?(fieldValue: String, now: Date = Date()) {
        let text = Substring(fieldValue.utf8.trimmingHTTPWhitespace())
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        guard
            let seconds = HTTPDate.fixdate(text) ?? HTTPDate.rfc850(text, now: now) ?? HTTPDate.asctime(text)
        else { return nil }
        secondsSince1970 = seconds
    }

    static func < (one: HTTPDate, other: HTTPDate) -> Bool {
        one.secondsSince1970 < other.secondsSince1970
    }

    // MARK: - Formats

    private static func fixdate(_ text: Substring) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT", parts[0].last == "," else { return nil }
        guard let weekday = weekdays.firstIndex(of: String(parts[0].dropLast())),
            let day = number(parts[1], digits: 2), let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], digits: 4)
        else { return nil }
        return seconds(year: year, month: month + 1, day: day, weekday: weekday, time: parts[4])
    }

    private static func rfc850(_ text: Substring, now: Date) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[3] == "GMT", parts[0].last == "," else { return nil }
        let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, let weekday = longWeekdays.firstIndex(of: String(parts[0].dropLast())),
            let day = number(date[0], digits: 2), let month = months.firstIndex(of: String(date[1])),
            let shortYear = number(date[2], digits: 2)
        else { return nil }
        let thisYear = 1970 + Int64((now.timeIntervalSince1970 / 31_556_952).rounded(.down))
        var year = thisYear - thisYear % 100 + shortYear
        if year > thisYear + 50 { year -= 100 }
        return seconds(year: year, month: month + 1, day: day, weekday: weekday, time: parts[2])
    }

    private static func asctime(_ text: Substring) -> Int64? {
        // The day is two characters wide, the first of which may be a space.
        guard text.utf8.count == 24 else { return nil }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        let isPadded = parts.count == 6 && parts[2].isEmpty
        guard isPadded || parts.count == 5 else { return nil }
        let rest = isPadded ? parts[3...] : parts[2...]
        guard let weekday = weekdays.firstIndex(of: String(parts[0])),
            let month = months.firstIndex(of: String(parts[1])),
            let day = number(rest[rest.startIndex], digits: isPadded ? 1 : 2),
            let year = number(rest[rest.startIndex + 2], digits: 4)
        else { return nil }
        let time = rest[rest.startIndex + 1]
        return seconds(year: year, month: month + 1, day: day, weekday: weekday, time: time)
    }

    // MARK: - Calendar

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let longWeekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        text.utf8.count == digits ? Int64(digits: text) : nil
    }

    private static func seconds(year: Int64, month: Int, day: Int64, weekday: Int, time: Substring) -> Int64?
    {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 2),
            let minute = number(parts[1], digits: 2),
            let second = number(parts[2], digits: 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day >= 1, day <= lengths[month - 1] else { return nil }
        let days = days(since1970ToYear: year, month: month, day: day)
        guard (days + 4) % 7 == weekday || (days + 4) % 7 + 7 == weekday else { return nil }
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// Days from 1970-01-01 in the Gregorian calendar; years begin in March here, so that the leap day is
    /// last.
    private static func days(since1970ToYear year: Int64, month: Int, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let monthFromMarch = Int64((month + 9) % 12)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        // Year -1, for January of the year 0, needs the rounding down that / does not do.
        let leapDays = year < 0 ? -1 : year / 4 - year / 100 + year / 400
        return year * 365 + leapDays + dayOfYear - 719_468
    }
}
