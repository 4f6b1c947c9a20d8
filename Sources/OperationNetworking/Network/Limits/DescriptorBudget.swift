/// The number of transfers for which the descriptors of the process are enough: a value.
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

    private var limit: Int
    private var used = 0

    /// - Parameter limit: descriptors that the process may have; `nil`: any number.
    init(limit: Int?) {
        self.limit = limit ?? .max
    }

    /// The descriptors left to the rest of the process: an eighth, at least 24.
    private var reserve: Int { max(24, limit / 8) }

    /// Connections to keep for later: an eighth, too.
    var idleConnections: Int { min(Self.mostIdleConnections, max(1, limit / 8)) }

    /// Whether `count` more are there.
    func has(_ count: Int) -> Bool { used <= limit - reserve - count }

    /// `count` descriptors may be opened from now on.
    mutating func take(_ count: Int) {
        used += count
    }

    /// There was a look.
    ///
    /// - Parameters:
    ///   - open: descriptors that are open.
    ///   - limit: as for ``init(limit:)``.
    ///   - expected: what those may still open that have started.
    mutating func didLook(open: Int, limit: Int?, expected: Int) {
        self.limit = limit ?? .max
        used = open + expected
    }

    /// There was none left, whatever was counted.
    mutating func didRunOut() {
        used = max(used, limit - reserve)
    }
}
