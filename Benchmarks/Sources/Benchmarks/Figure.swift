/// A measured figure, against its goal, with the figures of those that it is compared with.
struct Figure: Codable, CustomStringConvertible {
    /// One of those that a figure stands beside, or its own part.
    struct Bar: Codable {
        let name: String
        let value: Double
    }

    let name: String
    let value: Double
    let goal: Double
    let unit: String
    /// A remark.
    var remark = ""
    /// Whether more is better; else less is.
    var isMoreBetter = false
    /// The measured values, ours first, in `barUnit`.
    var bars: [Bar] = []
    var barUnit = ""

    var isReached: Bool { isMoreBetter ? value >= goal : value <= goal }

    var goalText: String { "\(isMoreBetter ? "at least" : "at most") \(rounded(goal))" }

    var description: String {
        let numbers = "\(rounded(value)) \(unit), goal: \(goalText)"
        let beside = bars.map { "\($0.name) \(rounded($0.value))" }.joined(separator: ", ")
        let notes = [beside.isEmpty ? "" : "\(beside) \(barUnit)", remark].filter { !$0.isEmpty }
        let rest = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
        return "\(isReached ? "ok    " : "MISSED") \(name): \(numbers)\(rest)"
    }
}

/// With two decimals at most.
func rounded(_ value: Double) -> String {
    guard value.magnitude < 100 else { return String(Int(value.rounded())) }
    let hundredths = (value * 100).rounded() / 100
    return Int(exactly: hundredths).map { String($0) } ?? String(hundredths)
}
