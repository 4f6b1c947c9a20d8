extension Double {
    /// The number with `digits` digits after the point.
    func rounded(to digits: Int) -> String {
        var factor = 1.0
        for _ in 0..<digits { factor *= 10 }
        let whole = Int((self * factor).rounded())
        let (units, fraction) = whole.quotientAndRemainder(dividingBy: Int(factor))
        guard digits > 0 else { return "\(units)" }
        let text = "\(fraction)"
        return "\(units).\(String(repeating: "0", count: digits - text.count))\(text)"
    }
}

extension Int {
    /// The number of bytes, in MiB.
    var inMebibytes: String { "\((Double(self) / 1_048_576).rounded(to: 1)) MiB" }
}

extension String {
    /// With spaces after it.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }

    /// With spaces before it.
    func paddedLeft(to width: Int) -> String {
        String(repeating: " ", count: Swift.max(0, width - count)) + self
    }
}
