internal import OperationNetworkingSystem

/// The number of transfers that the descriptors of the process allow. A value, used on the network thread.
///
/// A start waits while another transfer of the library is about to free descriptors, and fails with an error
/// when none is. What waits has nothing open before its first transfer. Between its transfers, when it is
/// retried, a download keeps its part open, which must not become another file meanwhile, and a request keeps
/// its destination open once bytes were written.
///
/// | a start                        | others                             | what follows                       |
/// |--------------------------------|------------------------------------|------------------------------------|
/// | is due, and there are enough   | any                                | it starts                          |
/// | is due, and there are too few  | are transferring, or close files   | it waits in its place              |
/// | is due, and there are too few  | none of these                      | it starts, with what there is      |
/// | or its files found none        | are transferring, or close files   | it waits at the end of the line    |
/// | or its files found none        | wait in the line with open files   | the same, until all have found none |
/// | or its files found none        | none of these                      | it fails, and closes its files     |
///
/// An `outputFile`, an `outputStream` and the file of a request's body are opened during the transfer, and
/// counted with its start. If there is no descriptor left all the same, because the program has taken it, the
/// request fails.
///
/// A download that is paused, or waits for a time or for code of the app, does not count: it may keep its
/// files open for days.
///
/// Open descriptors are only counted when there might be too few, since that costs time. Until then,
/// everything that started since the last count is counted with its maximum, whether it has ended or not.
struct DescriptorBudget {
    /// The descriptors of a transfer without a connection: a socket, one for the other address family, and
    /// the resolver's pair.
    static let perStart = 4
    /// The descriptors of a download: the partial file, its folder, a reader for digests, and a checkpoint
    /// being written.
    static let perFile = 4

    private static let mostIdleConnections = 256
    /// The minimum seconds between two counts, and the seconds until the next one when there are too few.
    private static let timeBetweenLooks = 0.002
    private static let timeToNextLook = 0.02
    /// The seconds after which the program may have opened some itself. With more than `manyDescriptors`
    /// open, a count takes long.
    private static let timeToForget = 1.0
    private static let manyDescriptors = 4096

    /// The number of open descriptors, and the limit of the process (`nil` if unlimited). Without `/proc`
    /// nothing is counted, and a transfer that finds none left fails.
    private let table: () -> (open: Int, limit: Int?)
    private var limit = Int.max
    private var used = 0
    private var lastLook: (time: MonotonicTime, open: Int)?
    /// Whether there are too few for another transfer.
    private(set) var isShort = false
    /// Whether idle connections are closed.
    private var closesIdle = false
    /// The number of starts that found none while no other was about to free some.
    private var startsInVain = 0

    init(table: (() -> (open: Int, limit: Int?))? = nil) {
        self.table = table ?? { (DescriptorTable.count ?? 0, DescriptorTable.limit) }
    }

    /// The descriptors reserved for the rest of the process: an eighth, at least 24.
    private var reserve: Int { max(24, limit / 8) }

    private var hasEnough: Bool { used <= limit - reserve - Self.perStart }

    /// The number of idle connections to keep in each domain: an eighth, too.
    var idleConnections: Int { closesIdle ? 0 : min(Self.mostIdleConnections, max(1, limit / 8)) }

    /// The time of the next try; `nil` if nothing waits for descriptors.
    var nextLook: MonotonicTime? { isShort ? lastLook.map { $0.time + Self.timeToNextLook } : nil }

    mutating func beginPass() {
        isShort = false
    }

    /// Allows one more start, unless it has to wait.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - othersFreeSome: whether others are transferring, or close files.
    ///   - expected: the number of descriptors that started transfers may still open.
    ///   - domains: the domains, whose idle connections may be closed.
    /// - Returns: whether it may start; if so, it counts from now on.
    mutating func allowStart(
        now: MonotonicTime,
        othersFreeSome: @autoclosure () -> Bool,
        expected: @autoclosure () -> Int,
        in domains: inout TransferDomains
    ) -> Bool {
        guard !isShort else { return false }
        if needsLook(now) { look(now, expected(), &domains) }
        if hasEnough { startsInVain = 0 }
        isShort = !hasEnough && othersFreeSome()
        if !isShort { take(Self.perStart) }
        return !isShort
    }

    /// Counts `count` descriptors that may be opened from now on.
    mutating func take(_ count: Int) {
        used += count
    }

    /// Records that a start, or its files, found none, whatever was counted. It has given up its place.
    ///
    /// - Parameters:
    ///   - othersFreeSome: whether others are transferring, or close files.
    ///   - waitingCount: the number of others in the line.
    ///   - holdsFiles: whether one of these has open files.
    /// - Returns: whether it waits in the line again. If not, it fails.
    mutating func didRunOut(othersFreeSome: Bool, waitingCount: Int, holdsFiles: Bool) -> Bool {
        used = max(used, limit - reserve)
        startsInVain = othersFreeSome ? 0 : startsInVain + 1
        return othersFreeSome || (holdsFiles && startsInVain <= waitingCount)
    }

    private func needsLook(_ now: MonotonicTime) -> Bool {
        guard let lastLook else { return true }
        let time = now - lastLook.time
        if time >= Self.timeToForget, lastLook.open < Self.manyDescriptors { return true }
        return time >= Self.timeBetweenLooks && (closesIdle || !hasEnough)
    }

    /// Counts the descriptors. If there are too few, idle connections are closed: all that can be closed at
    /// once, and one of the others with each transfer that ends.
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

/// Files that the budget has to know of, counted while the object exists. On any thread.
final class CountedFiles: Sendable {
    enum Kind {
        /// A destination of a response that is open: the kernel counts its descriptor. Another thread than the
        /// network thread opens it, which counts it before.
        case openDestination
        /// Those of a download while another thread writes, checks, renames and closes them, after the last
        /// byte. Their descriptors become free without any further transfer.
        case closingDownload
    }

    private static let counts = Locked([Kind: Int]())

    private let kind: Kind

    static func count(of kind: Kind) -> Int { counts.withLock { $0[kind, default: 0] } }

    init(_ kind: Kind) {
        self.kind = kind
        Self.counts.withLock { $0[kind, default: 0] += 1 }
    }

    deinit {
        Self.counts.withLock { $0[kind, default: 0] -= 1 }
    }
}
