/// The rows of one tool, added up.
public struct RowTotal: Sendable {
    private var kills = 0
    private var runs = 0
    private var finished = 0
    private var wrong = 0
    private var rowsWithWrongFiles = 0

    /// Nothing yet.
    public init() {}

    /// Adds a row.
    public mutating func add(_ row: RowResult) {
        kills += row.counts.kills
        runs += row.counts.runs
        finished += row.finished
        wrong += row.counts.wrong
        if row.counts.wrong > 0 { rowsWithWrongFiles += 1 }
    }
}

extension RowTotal: CustomStringConvertible {
    /// The numbers, in a sentence.
    public var description: String {
        let place = rowsWithWrongFiles > 0 ? ", at \(rowsWithWrongFiles) servers" : ""
        return "\(kills) kills, \(runs) runs, \(finished) finished files, \(wrong) wrong files\(place)."
    }
}
