internal import OperationNetworkingSystem

/// Looks whether the process has descriptors for another transfer, and lets go of connections that no
/// transfer needs when it has not. Used on the network thread.
struct DescriptorWatch {
    /// Seconds from one look to another one at least, and until the next one when there are not enough.
    private static let timeBetweenLooks = 0.002
    private static let timeToNextLook = 0.02
    /// Seconds after which the program may have opened some itself. With more than `manyDescriptors` open, a
    /// look takes long.
    private static let timeToForget = 1.0
    private static let manyDescriptors = 4096

    private var budget = DescriptorBudget(limit: DescriptorTable.limit)
    /// Whether there are not enough for another one.
    private(set) var isShort = false
    /// Whether connections that no transfer needs are closed.
    private var closesIdle = false
    private var lastLook: MonotonicTime?
    private var lastCount = 0

    /// Connections to keep for later, in each domain.
    var idleConnections: Int { closesIdle ? 0 : budget.idleConnections }

    /// The time of the next try; `nil`: nothing waits for descriptors.
    var nextLook: MonotonicTime? { isShort ? lastLook.map { $0 + Self.timeToNextLook } : nil }

    mutating func beginPass() {
        isShort = false
    }

    /// Lets one more start, if there are enough.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - isAlone: whether no other one moves, and no files are being closed. Then it may: nothing would
    ///     ever, otherwise.
    ///   - expected: descriptors that those may still open that have started.
    ///   - domains: what has connections that no transfer needs.
    /// - Returns: whether it may; then it counts from now on.
    mutating func allowStart(
        now: MonotonicTime,
        isAlone: @autoclosure () -> Bool,
        expected: Int,
        in domains: inout TransferDomains
    ) -> Bool {
        guard !isShort else { return false }
        if needsLook(now) { look(now, expected, &domains) }
        isShort = !budget.has(DescriptorBudget.perStart) && !isAlone()
        if !isShort { budget.take(DescriptorBudget.perStart) }
        return !isShort
    }

    /// `count` descriptors may be opened besides.
    mutating func take(_ count: Int) {
        budget.take(count)
    }

    /// There was none left, whatever was counted.
    mutating func didRunOut() {
        budget.didRunOut()
    }

    private func needsLook(_ now: MonotonicTime) -> Bool {
        guard let lastLook else { return true }
        let time = now - lastLook
        if time >= Self.timeToForget, lastCount < Self.manyDescriptors { return true }
        return time >= Self.timeBetweenLooks && (closesIdle || !budget.has(DescriptorBudget.perStart))
    }

    /// Counts the descriptors. Where they are too few, connections that no transfer needs are closed: all
    /// that can be closed at once, and one of the others with each transfer that ends.
    private mutating func look(_ now: MonotonicTime, _ expected: Int, _ domains: inout TransferDomains) {
        lastLook = now
        count(expected)
        closesIdle = !budget.has(DescriptorBudget.perStart)
        if closesIdle {
            domains.removeIdle()
            count(expected)
        }
        for domain in domains.all { domain.maximumIdleConnections = idleConnections }
    }

    private mutating func count(_ expected: Int) {
        // Without /proc nothing is counted, and the transfer that finds none left ends with an error.
        lastCount = DescriptorTable.count ?? 0
        budget.didLook(open: lastCount, limit: DescriptorTable.limit, expected: expected)
    }
}
