/// The result of one tool at one server.
public struct RowResult: Sendable {
    /// The server.
    public let server: ServerKind
    /// The tool.
    public let tool: Tool
    /// The counts that every run has.
    public internal(set) var counts = RunCounts()
    /// The number of files that came to their end, right or wrong.
    public internal(set) var finished = 0
    /// The number of these that are a whole version, but one that the server no longer had.
    public internal(set) var older = 0
    /// The number of files that were given up, because run after run failed.
    public internal(set) var unfinished = 0
    /// The number of runs that had to be ended because they hung.
    public internal(set) var hung = 0
    /// The size of the finished files in bytes.
    public internal(set) var size = 0
    /// The number of leftovers beside finished files.
    public internal(set) var leftovers = 0
    /// The counts of exit codes, of runs that were not killed.
    public internal(set) var exits: [Int32: Int] = [:]

    init(server: ServerKind, tool: Tool) {
        self.server = server
        self.tool = tool
    }

    /// Bytes served over file size; `nil` if no file was finished.
    public var ratio: Double? { size > 0 ? counts.ratio(to: size) : nil }

    /// The objections to a tool that must deliver no wrong file, and fetch nothing twice where it need not.
    public func verdict(highestRatio: Double) -> [String] {
        let place = "\(tool) at \(server.name)"
        var faults: [String] = []
        if counts.wrong > 0 { faults.append("\(place): \(counts.wrong) wrong files.") }
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
