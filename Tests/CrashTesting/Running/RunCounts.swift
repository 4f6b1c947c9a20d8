/// The counts that every run has.
public struct RunCounts: Sendable {
    /// The number of runs of the command.
    public internal(set) var runs = 0
    /// The number of runs that were ended by SIGKILL.
    public internal(set) var kills = 0
    /// The number of files that claimed to be complete, and were no version of the server's.
    public internal(set) var wrong = 0
    /// The number of bytes of bodies that the server sent.
    public internal(set) var served = 0
    /// The problems, wrong files included, a sentence each.
    public internal(set) var problems: [String] = []

    /// A file is wrong: `problem` says how.
    mutating func addWrongFile(_ problem: String) {
        wrong += 1
        problems.append(problem)
    }

    /// Bytes served over a size in bytes.
    func ratio(to size: Int) -> Double { Double(served) / Double(max(1, size)) }
}
