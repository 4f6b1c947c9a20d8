import Foundation

/// A duration in seconds, as in options: `30`, `0.5`.
struct Seconds: Hashable, Sendable {
    /// The maximum, thirty years.
    private static let longest = 1e9

    /// Positive.
    let value: Double

    /// - Parameters:
    ///   - text: a decimal number.
    ///   - option: the option's name, for errors.
    /// - Throws: `Failure` with ``Outcome/usage``.
    init(_ text: String, of option: String) throws {
        guard text.wholeMatch(of: #/[0-9]+(\.[0-9]+)?/#) != nil, let number = Double(text) else {
            throw Failure(
                .usage,
                "\(option) needs a number of seconds, such as 30 or 0.5, not \(text.debugDescription)."
            )
        }
        guard number >= 0.001, number <= Self.longest else {
            throw Failure(.usage, "\(option) needs a time from a millisecond to thirty years, not \(text).")
        }
        value = number
    }
}
