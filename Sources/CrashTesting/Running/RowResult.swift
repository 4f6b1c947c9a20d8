/// What came of one tool at one server.
public struct RowResult: Sendable {
    /// The server.
    public let server: ServerKind
    /// The tool.
    public let tool: Tool
    /// How many runs were ended by SIGKILL.
    public internal(set) var kills = 0
    /// How many runs there were.
    public internal(set) var runs = 0
    /// How many files came to their end, right or wrong.
    public internal(set) var finished = 0
    /// How many of these are a whole version, but one that the server no longer had.
    public internal(set) var older = 0
    /// How many files were given up, because run after run failed.
    public internal(set) var unfinished = 0
    /// How many files claimed to be complete and were no version of what the server had.
    public internal(set) var wrong = 0
    /// How many runs had to be ended because they did not end.
    public internal(set) var hung = 0
    /// How many bytes of bodies the server sent.
    public internal(set) var served = 0
    /// How many bytes the finished files have.
    public internal(set) var size = 0
    /// How many files of runs that are over were left beside finished ones.
    public internal(set) var leftovers = 0
    /// How often each exit code occurred, of runs that were not killed.
    public internal(set) var exits: [Int32: Int] = [:]
    /// What went wrong, a sentence each.
    public internal(set) var problems: [String] = []

    init(server: ServerKind, tool: Tool) {
        self.server = server
        self.tool = tool
    }

    /// Bytes served over file size; `nil` if no file was finished.
    public var ratio: Double? { size > 0 ? Double(served) / Double(size) : nil }

    /// What speaks against a tool that must deliver no wrong file, and fetch nothing twice where it need not.
    public func verdict(highestRatio: Double) -> [String] {
        let place = "\(tool) at \(server.name)"
        var faults: [String] = []
        if wrong > 0 { faults.append("\(place): \(wrong) wrong files.") }
        if hung > 0 { faults.append("\(place): \(hung) runs did not end.") }
        if server.keepsRanges {
            if unfinished > 0 { faults.append("\(place): \(unfinished) files were not finished.") }
            if let ratio, ratio > highestRatio {
                let limit = highestRatio.rounded(to: 2)
                faults.append(
                    "\(place): \(ratio.rounded(to: 3)) bytes served for each, not at most \(limit)."
                )
            }
        }
        return faults
    }
}
