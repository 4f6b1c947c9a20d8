internal import OperationNetworkingSystem

/// The servers that asked, with `Retry-After`, to be left alone, and for how long. A value.
///
/// What it forgets costs a request that is answered with the same wish again; so its size is limited.
struct HostWaits {
    /// One server.
    struct Host: Hashable {
        var servers: ServerSet
        var origin: Origin
    }

    /// The number of servers that are kept.
    let capacity: Int
    private var ends: [Host: MonotonicTime] = [:]

    init(capacity: Int = 1024) {
        self.capacity = capacity
    }

    var count: Int { ends.count }

    /// Notes a server's `Retry-After`. A later one never shortens an earlier one, which may have been meant
    /// for all of its clients, and this one for a single path.
    mutating func note(_ host: Host, seconds: Double, now: MonotonicTime) {
        guard seconds > 0 else { return }
        let end = now + seconds
        if let known = ends[host] {
            ends[host] = max(known, end)
            return
        }
        if ends.count >= capacity { makeRoom(now: now) }
        guard ends.count < capacity else { return }
        ends[host] = end
    }

    /// Seconds that are left; `nil`: none, and nothing is remembered of that server.
    mutating func remaining(for host: Host, now: MonotonicTime) -> Double? {
        guard let end = ends[host] else { return nil }
        guard end > now else {
            ends[host] = nil
            return nil
        }
        return end - now
    }

    /// Forgets what is over; if there is nothing of the kind, the one that is over first.
    private mutating func makeRoom(now: MonotonicTime) {
        ends = ends.filter { $0.value > now }
        guard ends.count >= capacity, let first = ends.min(by: { $0.value < $1.value }) else { return }
        ends[first.key] = nil
    }
}
