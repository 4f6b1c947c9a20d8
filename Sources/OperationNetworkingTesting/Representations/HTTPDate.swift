internal import Foundation

/// Dates in the form `Sun, 06 Nov 1994 08:49:37 GMT`: the IMF-fixdate of [RFC 9110
/// §5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7). The obsolete formats are not supported.
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    /// Returns the field value for `date`, without fractions of a second.
    static func text(_ date: Date) -> String {
        let date = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        let parts = calendar.dateComponents(
            [.weekday, .day, .month, .year, .hour, .minute, .second],
            from: date
        )
        let weekday = days[(parts.weekday ?? 1) - 1]
        let month = months[(parts.month ?? 1) - 1]
        let time = [parts.hour, parts.minute, parts.second].map { padded($0 ?? 0) }.joined(separator: ":")
        return "\(weekday), \(padded(parts.day ?? 1)) \(month) \(padded(parts.year ?? 0, to: 4)) \(time) GMT"
    }

    /// Parses a date; `nil` if it is invalid.
    static func date(_ text: String) -> Date? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT" else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3, let month = months.firstIndex(of: String(words[2])) else { return nil }
        var parts = DateComponents()
        (parts.day, parts.month, parts.year) = (Int(words[1]), month + 1, Int(words[3]))
        (parts.hour, parts.minute, parts.second) = (time[0], time[1], time[2])
        return calendar.date(from: parts)
    }

    private static func padded(_ number: Int, to width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
