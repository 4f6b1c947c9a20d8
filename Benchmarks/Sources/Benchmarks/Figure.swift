/// A measured figure, against its limit.
struct Figure: CustomStringConvertible {
    let name: String
    let value: Double
    let goal: Double
    let unit: String
    /// A remark.
    var remark = ""

    /// Lower is better, always.
    var isReached: Bool { value <= goal }

    var description: String {
        let numbers = "\(rounded(value)) \(unit), goal: at most \(rounded(goal))"
        return "\(isReached ? "ok    " : "MISSED") \(name): \(numbers)\(remark.isEmpty ? "" : " (\(remark))")"
    }
}

/// With two decimals at most.
func rounded(_ value: Double) -> String {
    let hundredths = (value * 100).rounded() / 100
    return Int(exactly: hundredths).map { String($0) } ?? String(hundredths)
}
