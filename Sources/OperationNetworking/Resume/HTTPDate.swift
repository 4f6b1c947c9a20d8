internal import Foundation

/// A date with a resolution of one second, in one of the three formats of
/// [RFC 9110 §5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7).
///
/// | Format        | Example                          |
/// |---------------|----------------------------------|
/// | IMF-fixdate   | `Sun, 06 Nov 1994 08:49:37 GMT`  |
/// | RFC 850       | `Sunday, 06-Nov-94 08:49:37 GMT` |
/// | asctime       | `Sun Nov  6 08:49:37 1994`       |
///
/// Parsing is strict, because a trusted date allows bytes of two responses to be joined: spacing and case must be
/// exact, the day must exist, and the weekday must be right. A validator is never reformatted: it is sent back as
/// received.
struct HTTPDate: Hashable, Sendable, Comparable {
    /// The seconds since 1970-01-01 00:00:00 UTC, without leap seconds.
    let secondsSince1970: Int64

    /// - Parameters:
    ///   - fieldValue: the value as received; surrounding white space is ignored.
    ///   - now: determines the century of a two-digit year: the last one in which the date is at most 50 years ahead.
    ///   - isLenient: whether case and weekday are ignored, as [RFC 9111
    ///     §4.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2) requires for freshness.
    init?(fieldValue: String, now: Date = Date(), isLenient: Bool = false) {
        if let moment = HTTPDate.fixdate(Array(fieldValue.utf8)), moment.isOnNamedDay || isLenient {
            secondsSince1970 = moment.seconds
            return
        }
        var text = Substring(fieldValue.utf8.trimmingHTTPWhitespace())
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if isLenient { text = HTTPDate.canonicalCase(text) }
        guard
            let moment = HTTPDate.fixdate(Array(text.utf8)) ?? HTTPDate.rfc850(text, now: now)
                ?? HTTPDate.asctime(text),
            moment.isOnNamedDay || isLenient
        else { return nil }
        secondsSince1970 = moment.seconds
    }

    /// Creates the second that contains `date`, limited to the years 0 to 9999.
    init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        secondsSince1970 = Int64(min(max(seconds.isNaN ? 0 : seconds, -62_167_219_200), 253_402_300_799))
    }

    /// The date as an IMF-fixdate.
    var text: String {
        let days = (Double(secondsSince1970) / 86_400).rounded(.down)
        let seconds = secondsSince1970 - Int64(days) * 86_400
        let date = HTTPDate.calendarDay(since1970: Int64(days))
        let weekday = HTTPDate.weekdays[Int((Int64(days) % 7 + 11) % 7)]
        let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { HTTPDate.padded($0, to: 2) }
        return "\(weekday), \(HTTPDate.padded(date.day, to: 2)) \(HTTPDate.months[date.month - 1]) "
            + "\(HTTPDate.padded(date.year, to: 4)) \(time.joined(separator: ":")) GMT"
    }

    static func < (one: HTTPDate, other: HTTPDate) -> Bool {
        one.secondsSince1970 < other.secondsSince1970
    }

    // MARK: - Formats

    private typealias Moment = (seconds: Int64, isOnNamedDay: Bool)

    /// Capitalizes words, and writes `GMT` in upper case.
    private static func canonicalCase(_ text: Substring) -> Substring {
        var octets: [UInt8] = []
        for octet in text.utf8 {
            let isLetter = octet.lowercasedASCII &- UInt8(ascii: "a") < 26
            let isInWord = octets.last.map { $0.lowercasedASCII &- UInt8(ascii: "a") < 26 } ?? false
            octets.append(isLetter && !isInWord ? octet & ~0x20 : octet.lowercasedASCII)
        }
        let result = Substring(decoding: octets, as: UTF8.self)
        return result.hasSuffix(" Gmt") ? result.dropLast(3) + "GMT" : result
    }

    /// Parses the form that nearly all servers send, octet by octet, because the dates of a stored response are
    /// parsed several times.
    private static func fixdate(_ text: [UInt8]) -> Moment? {
        guard text.count == 29, text[3] == UInt8(ascii: ","), text[26] == UInt8(ascii: "G"),
            text[27] == UInt8(ascii: "M"), text[28] == UInt8(ascii: "T"),
            [4, 7, 11, 16, 25].allSatisfy({ text[$0] == UInt8(ascii: " ") }),
            text[19] == UInt8(ascii: ":"), text[22] == UInt8(ascii: ":"),
            let weekday = weekdayOctets.firstIndex(of: word(text, at: 0)),
            let month = monthOctets.firstIndex(of: word(text, at: 8)),
            let day = number(text, 5..<7), let year = number(text, 12..<16),
            let hour = number(text, 17..<19), let minute = number(text, 20..<22),
            let second = number(text, 23..<25)
        else { return nil }
        return moment(
            year: year,
            month: month + 1,
            day: day,
            weekday: weekday,
            time: (hour, minute, second)
        )
    }

    private static let weekdayOctets = weekdays.map { word(Array($0.utf8), at: 0) }
    private static let monthOctets = months.map { word(Array($0.utf8), at: 0) }

    /// Returns three octets as a number.
    private static func word(_ text: [UInt8], at start: Int) -> UInt32 {
        UInt32(text[start]) << 16 | UInt32(text[start + 1]) << 8 | UInt32(text[start + 2])
    }

    private static func number(_ text: [UInt8], _ range: Range<Int>) -> Int64? {
        var number: Int64 = 0
        for index in range {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number
    }

    private static func rfc850(_ text: Substring, now: Date) -> Moment? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[3] == "GMT", parts[0].last == "," else { return nil }
        let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, let weekday = longWeekdays.firstIndex(of: String(parts[0].dropLast())),
            let day = number(date[0], digits: 2), let month = months.firstIndex(of: String(date[1])),
            let shortYear = number(date[2], digits: 2)
        else { return nil }
        // Limited to what can be formatted: a file may contain any time.
        let present = HTTPDate(now).secondsSince1970
        let century = (1970 + present / secondsPerYear) / 100 * 100
        for begin in [century + 100, century, century - 100] {
            let moment = seconds(
                year: begin + shortYear,
                month: month + 1,
                day: day,
                weekday: weekday,
                time: parts[2]
            )
            if let moment, moment.seconds <= present + 50 * secondsPerYear { return moment }
        }
        return nil
    }

    /// The mean length of a Gregorian year.
    private static let secondsPerYear: Int64 = 31_556_952

    private static func asctime(_ text: Substring) -> Moment? {
        // The day has two characters, the first of which may be a space.
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

    private static func seconds(
        year: Int64,
        month: Int,
        day: Int64,
        weekday: Int,
        time: Substring
    ) -> Moment? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 2),
            let minute = number(parts[1], digits: 2), let second = number(parts[2], digits: 2)
        else { return nil }
        return moment(
            year: year,
            month: month,
            day: day,
            weekday: weekday,
            time: (hour, minute, second)
        )
    }

    private static let monthLengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

    /// Returns `nil` if the day or the time does not exist.
    private static func moment(
        year: Int64,
        month: Int,
        day: Int64,
        weekday: Int,
        time: (hour: Int64, minute: Int64, second: Int64)
    ) -> Moment? {
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let length = monthLengths[month - 1] + (month == 2 && isLeapYear ? 1 : 0)
        guard time.hour < 24, time.minute < 60, time.second <= 60, day >= 1, day <= length else { return nil }
        let days = days(since1970ToYear: year, month: month, day: day)
        let isOnNamedDay = (days + 4) % 7 == weekday || (days + 4) % 7 + 7 == weekday
        return (days * 86_400 + time.hour * 3_600 + time.minute * 60 + time.second, isOnNamedDay)
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so that the leap day
    /// is the last.
    private static func days(since1970ToYear year: Int64, month: Int, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let monthFromMarch = Int64((month + 9) % 12)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        // Year -1, for January of year 0, would have to be rounded down.
        let leapDays = year < 0 ? -1 : year / 4 - year / 100 + year / 400
        return year * 365 + leapDays + dayOfYear - 719_468
    }

    /// The reverse of ``days(since1970ToYear:month:day:)``.
    private static func calendarDay(since1970 days: Int64) -> (year: Int64, month: Int, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func padded(_ number: Int64, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
