import OperationNetworking

/// The results of the items so far: counts and bytes, for the batch's line, the summary and the exit code.
struct Tally: Hashable, Sendable {
    let count: Int
    private(set) var saved = 0
    private(set) var alreadyThere = 0
    private(set) var upToDate = 0
    private(set) var failed = 0
    private(set) var bytesSaved: Int64 = 0
    /// The bytes of transfers that have ended, successfully or not.
    private(set) var bytes: Int64 = 0
    /// The bytes from earlier runs.
    private(set) var bytesRecovered: Int64 = 0
    /// The partial files of items that failed or were stopped.
    private(set) var kept = KeptParts()
    private(set) var outcome = Outcome.success

    init(count: Int) {
        self.count = count
    }

    var finished: Int { done + failed }

    private var done: Int { saved + alreadyThere + upToDate }

    mutating func save(bytes: Int64, recovered: Int64 = 0) {
        saved += 1
        bytesRecovered = bytesRecovered.addingSaturated(recovered)
        bytesSaved = bytesSaved.addingSaturated(bytes)
        self.bytes = self.bytes.addingSaturated(bytes)
    }

    mutating func findAlreadyThere() {
        alreadyThere += 1
    }

    mutating func findUpToDate() {
        upToDate += 1
    }

    mutating func fail(_ outcome: Outcome, bytes: Int64, recovered: Int64 = 0) {
        failed += 1
        bytesRecovered = bytesRecovered.addingSaturated(recovered)
        self.bytes = self.bytes.addingSaturated(bytes)
        self.outcome = self.outcome.combined(with: outcome)
    }

    /// Records the next use of the partial file of a transfer that has ended; `nil` if it left none.
    mutating func keep(_ nextUse: KeptParts.NextUse?) {
        if let nextUse { kept.add(nextUse) }
    }

    /// Returns the state of the batch. `received` and `expected` are the bytes of running transfers;
    /// `expected` is `nil` if it is unknown for one of them; `recovered` is the number of bytes from earlier
    /// runs.
    func batch(running: Int, received: Int64, expected: Int64?, recovered: Int64 = 0) -> BatchState {
        let isAllKnown = finished + running == count
        return BatchState(
            finished: finished,
            count: count,
            received: bytes.addingSaturated(received),
            expected: isAllKnown ? expected.map { bytes.addingSaturated($0) } : nil,
            recovered: bytesRecovered.addingSaturated(recovered)
        )
    }

    /// The summary: `3 of 4 done: 2 fetched (12.4 MiB), 1 already there, 1 failed`.
    var summary: String {
        var parts = ["\(saved) fetched (\(ByteCount(bytesSaved).text))"]
        if alreadyThere > 0 { parts.append("\(alreadyThere) already there") }
        if upToDate > 0 { parts.append("\(upToDate) up to date") }
        if failed > 0 { parts.append("\(failed) failed") }
        return "\(done) of \(count) done: " + parts.joined(separator: ", ")
    }
}
