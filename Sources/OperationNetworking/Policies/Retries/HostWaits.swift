internal import OperationNetworkingSystem

/// The servers that sent `Retry-After`, and the time until which requests to them wait.
///
/// Its size is limited: a forgotten entry costs one request, which the server answers with `Retry-After`
/// again.
struct HostWaits {
    /// One server.
    struct Host: Hashable {
        var servers: ServerSet
        var origin: Origin
    }

    /// The maximum number of servers.
    let capacity: Int
    private var ends: [Host: MonotonicTime] = [:]

    init(capacity: Int = 1024) {
        self.capacity = capacity
    }

    var count: Int { ends.count }

    /// Records a server's `Retry-After`. A later one never shortens an earlier one: the earlier one may apply
    /// to all clients, and the later one to a single path.
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

    /// The remaining seconds; `nil` if there are none, in which case the server is forgotten.
    mutating func remaining(for host: Host, now: MonotonicTime) -> Double? {
        guard let end = ends[host] else { return nil }
        guard end > now else {
            ends[host] = nil
            return nil
        }
        return end - now
    }

    /// Removes entries that have expired; if there are none, the one that expires first.
    private mutating func makeRoom(now: MonotonicTime) {
        ends = ends.filter { $0.value > now }
        guard ends.count >= capacity, let first = ends.min(by: { $0.value < $1.value }) else { return }
        ends[first.key] = nil
    }
}
