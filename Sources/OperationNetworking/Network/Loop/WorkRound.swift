/// Works that are done together, a moment after the first of them came: one timer serves them all.
struct WorkRound {
    private var works: [() -> Void] = []

    /// Adds a work to the round.
    /// - Returns: whether it is the first one, which needs a timer.
    mutating func add(_ work: @escaping () -> Void) -> Bool {
        works.append(work)
        return works.count == 1
    }

    /// The works of the round, which ends. What they add is of the next one.
    mutating func takeAll() -> [() -> Void] {
        defer { works = [] }
        return works
    }
}
