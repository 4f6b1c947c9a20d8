import Foundation

/// A rate in bytes per second, the value of `--limit-rate`.
///
/// | Text   | `bytesPerSecond` |
/// |--------|------------------|
/// | `800`  | 800              |
/// | `500K` | 512,000          |
/// | `1.5M` | 1,572,864        |
/// | `2g`   | 2,147,483,648    |
struct ByteRate: Hashable, Sendable {
    /// At least 1.
    let bytesPerSecond: Int64

    /// - Parameters:
    ///   - text: a decimal number, and K, M or G (of 1024, as in curl) in any case.
    ///   - option: the option's name, for errors.
    /// - Throws: `Failure` with ``Outcome/usage``.
    init(_ text: String, of option: String) throws {
        let units = ["": 1.0, "K": 1024, "M": 1_048_576, "G": 1_073_741_824]
        guard let match = text.wholeMatch(of: #/([0-9]+(?:\.[0-9]+)?)([KMGkmg]?)/#),
            let number = Double(match.1), let unit = units[match.2.uppercased()]
        else {
            throw Failure(
                .usage,
                "\(option) needs bytes per second, such as 800, 500K or 1.5M, not \(text.debugDescription)."
            )
        }
        let rate = (number * unit).rounded(.down)
        guard rate >= 1, rate < 0x1p62 else {
            throw Failure(
                .usage,
                "\(option) needs a rate between 1 byte per second and 2^62, not \(text)."
            )
        }
        bytesPerSecond = Int64(rate)
    }
}
