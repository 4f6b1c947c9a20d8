internal import OperationNetworkingSystem

/// The servers that sent `Retry-After`, and the time until which requests to them wait.
///
/// | An attempt, the first one included                       | Starts                                              |
/// |----------------------------------------------------------|-----------------------------------------------------|
/// | of an operation with a policy                            | after the end of the rest, and 0 to `initialDelay`  |
/// | that would have waited longer than `maximumWait` in all  | at once: the server's own answer is the better result |
/// | that would start after `timeBudget`                      | at once                                             |
/// | after a pause, or of an operation without a policy       | at once                                             |
///
/// After the wait the table is asked again, so that the first operation back may learn that it has to wait
/// once more. Such a wait is not a retry. `Age` is subtracted from `Retry-After`, since the rest began when
/// the server answered ([RFC 9111 §5.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.1)). An entry that
/// is forgotten costs one request, so the size is limited.
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
        if ends.count >= capacity { evict(now: now) }
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
    private mutating func evict(now: MonotonicTime) {
        ends = ends.filter { $0.value > now }
        guard ends.count >= capacity, let first = ends.min(by: { $0.value < $1.value }) else { return }
        ends[first.key] = nil
    }
}
