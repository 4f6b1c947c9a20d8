internal import OperationNetworkingSystem

/// The number of transfers for which the descriptors of the process are enough: a value. Used on the network
/// thread.
///
/// What waits has nothing open. A start waits while a transfer of ours holds a descriptor, and fails with a
/// sentence when none does:
///
/// | event                                          | others hold some | follows                              |
/// |------------------------------------------------|------------------|--------------------------------------|
/// | a start is due, and there are enough           | any              | it starts                            |
/// | a start is due, and there are too few          | yes              | it waits in its place                |
/// | a start is due, and there are too few          | no               | it starts, with what the system has  |
/// | a start, or its files, found none              | yes              | it waits in the line again           |
/// | a start, or its files, found none              | no               | it ends with the error of the system |
///
/// Others hold some while they move, or close their files (``ClosingFiles``). A paused transfer may keep its
/// own for days, and does not count.
///
/// What is open is only looked at when the descriptors might not be enough, since that costs time: until
/// then, everything that started since the last look counts with the most that it may need, whether it has
/// ended or not.
struct DescriptorBudget {
    /// For a transfer without a connection: a socket, another one for the other family of addresses, and the
    /// pair of the resolver.
    static let perStart = 4
    /// For a download: the part, its folder, a reader for digests, and a checkpoint that is being written.
    static let perFile = 4

    private static let mostIdleConnections = 256
    /// Seconds from one look to another one at least, and until the next one when there are not enough.
    private static let timeBetweenLooks = 0.002
    private static let timeToNextLook = 0.02
    /// Seconds after which the program may have opened some itself. With more than `manyDescriptors` open, a
    /// look takes long.
    private static let timeToForget = 1.0
    private static let manyDescriptors = 4096

    /// The descriptors that are open, and those that the process may have; `nil`: any number. Without `/proc`
    /// nothing is counted, and the transfer that finds none left ends with an error.
    private let table: () -> (open: Int, limit: Int?)
    private var limit = Int.max
    private var used = 0
    private var lastLook: (time: MonotonicTime, open: Int)?
    /// Whether there are not enough for another one.
    private(set) var isShort = false
    /// Whether connections that no transfer needs are closed.
    private var closesIdle = false

    init(table: (() -> (open: Int, limit: Int?))? = nil) {
        self.table = table ?? { (DescriptorTable.count ?? 0, DescriptorTable.limit) }
    }

    /// The descriptors left to the rest of the process: an eighth, at least 24.
    private var reserve: Int { max(24, limit / 8) }

    private var hasEnough: Bool { used <= limit - reserve - Self.perStart }

    /// Connections to keep for later, in each domain: an eighth, too.
    var idleConnections: Int { closesIdle ? 0 : min(Self.mostIdleConnections, max(1, limit / 8)) }

    /// The time of the next try; `nil`: nothing waits for descriptors.
    var nextLook: MonotonicTime? { isShort ? lastLook.map { $0.time + Self.timeToNextLook } : nil }

    mutating func beginPass() {
        isShort = false
    }

    /// Lets one more start, if it need not wait.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - othersHoldSome: whether there will be more by themselves.
    ///   - expected: descriptors that those may still open that have started.
    ///   - domains: what has connections that no transfer needs.
    /// - Returns: whether it may; then it counts from now on.
    mutating func allowStart(
        now: MonotonicTime,
        othersHoldSome: @autoclosure () -> Bool,
        expected: Int,
        in domains: inout TransferDomains
    ) -> Bool {
        guard !isShort else { return false }
        if needsLook(now) { look(now, expected, &domains) }
        isShort = !hasEnough && othersHoldSome()
        if !isShort { take(Self.perStart) }
        return !isShort
    }

    /// `count` descriptors may be opened from now on.
    mutating func take(_ count: Int) {
        used += count
    }

    /// There was none left, whatever was counted.
    mutating func didRunOut() {
        used = max(used, limit - reserve)
    }

    private func needsLook(_ now: MonotonicTime) -> Bool {
        guard let lastLook else { return true }
        let time = now - lastLook.time
        if time >= Self.timeToForget, lastLook.open < Self.manyDescriptors { return true }
        return time >= Self.timeBetweenLooks && (closesIdle || !hasEnough)
    }

    /// Counts the descriptors. Where they are too few, connections that no transfer needs are closed: all
    /// that can be closed at once, and one of the others with each transfer that ends.
    private mutating func look(_ now: MonotonicTime, _ expected: Int, _ domains: inout TransferDomains) {
        count(now, expected)
        closesIdle = !hasEnough
        if closesIdle {
            domains.removeIdle()
            count(now, expected)
        }
        for domain in domains.all { domain.maximumIdleConnections = idleConnections }
    }

    private mutating func count(_ now: MonotonicTime, _ expected: Int) {
        let table = table()
        lastLook = (now, table.open)
        limit = table.limit ?? .max
        used = table.open + expected
    }
}

/// The files of a download while they are being written out, checked, renamed and closed, on another thread,
/// from its last byte on. Their descriptors come back without the doing of any transfer.
final class ClosingFiles: Sendable {
    private static let number = Locked(0)

    /// The number of downloads that are closing theirs.
    static var count: Int { number.withLock { $0 } }

    init() {
        Self.number.withLock { $0 += 1 }
    }

    deinit {
        Self.number.withLock { $0 -= 1 }
    }
}
