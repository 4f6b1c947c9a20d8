import Foundation

/// A byte count in human-readable form: `12.4 MiB`.
struct ByteCount: Hashable, Sendable {
    let bytes: Int64

    private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    init(_ bytes: Int64) {
        self.bytes = max(0, bytes)
    }

    /// Returns the value in the largest unit in which it is at least 1 after rounding to `places` decimal
    /// places.
    private func scaled(places: Int) -> (value: Double, unit: Int) {
        var value = Double(bytes)
        var unit = 0
        let limit = places > 0 ? 1023.95 : 999.5
        while value >= limit, unit < Self.units.count - 1 {
            value /= 1024
            unit += 1
        }
        return (value, unit)
    }

    /// At most 10 columns: `512 B`, `12.4 MiB`.
    var text: String {
        let (value, unit) = scaled(places: 1)
        return unit == 0 ? "\(bytes) B" : Self.oneDecimal(value) + " " + Self.units[unit]
    }

    /// At most 4 columns: `512B`, `12M`.
    var shortText: String {
        let (value, unit) = scaled(places: 0)
        return "\(Int(value.rounded()))\(Self.units[unit].prefix(1))"
    }

    private static func oneDecimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// A duration in human-readable form, in at most 6 columns: `6s`, `1m05s`, `2h03m`, `3d04h`.
struct TimeSpan: Hashable, Sendable {
    let text: String

    private init(text: String) {
        self.text = text
    }

    /// Formats an elapsed time, with tenths of a second if it is short.
    init(elapsed seconds: Double) {
        let tenths = Int(min(max(0, seconds), 1e10) * 10)
        if tenths < 100 {
            self.init(text: "\(tenths / 10).\(tenths % 10)s")
        } else {
            self.init(seconds: seconds)
        }
    }

    /// Formats a remaining time, rounded up.
    init(seconds: Double) {
        let seconds = Int(min(max(0, seconds), 1e10).rounded(.up))
        let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400)
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let text =
            switch seconds {
            case ..<60: "\(seconds)s"
            case ..<3600: "\(minutes)m\(twoDigits(seconds % 60))s"
            case ..<86400: "\(hours)h\(twoDigits(minutes % 60))m"
            case ..<(100 * 86400): "\(days)d\(twoDigits(hours % 24))h"
            default: ">99d"
            }
        self.init(text: text)
    }
}
