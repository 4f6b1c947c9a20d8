internal import Dispatch
internal import OperationNetworkingSystem

/// A queue of works that may wait, for another process say, with a limit of those that run at once.
///
/// The works begin in order. Those that wait for their turn hold no thread, and those that run hold threads
/// of the queue's own: so a queue that is held up holds up no operation but those whose serializers use it.
public final class ProcessingQueue: Sendable {
    /// The number of works at once.
    public let width: Int
    private let lanes: [DispatchQueue]
    private let turns: Locked<Turns>

    /// The lanes that are free, and the works that wait for one.
    private struct Turns {
        var free: [Int]
        private var waiting: [(@Sendable () -> Void)?] = []
        /// The index of the next one to take.
        private var first = 0

        init(free: [Int]) {
            self.free = free
        }

        mutating func append(_ work: @escaping @Sendable () -> Void) {
            waiting.append(work)
        }

        /// Takes the next work out: what it holds lives no longer than it runs.
        mutating func next() -> (@Sendable () -> Void)? {
            guard first < waiting.count else { return nil }
            let work = waiting[first].take()
            first += 1
            // In constant time on average.
            if first == waiting.count {
                (waiting, first) = ([], 0)
            } else if first > 1_000, first > waiting.count / 2 {
                waiting.removeFirst(first)
                first = 0
            }
            return work
        }
    }

    /// - Parameters:
    ///   - label: names the queue in debuggers.
    ///   - width: the number of works at once, at least 1.
    public init(label: String, width: Int) {
        self.width = max(1, width)
        // Serial queues have threads of their own, where concurrent ones share a pool.
        lanes = (0..<max(1, width)).map { DispatchQueue(label: "\(label).\($0)") }
        turns = Locked(Turns(free: Array(lanes.indices)))
    }

    /// Calls `work` when it is its turn. Returns at once.
    public func async(_ work: @escaping @Sendable () -> Void) {
        let lane = turns.withLock { turns in
            turns.append(work)
            return turns.free.popLast()
        }
        if let lane { lanes[lane].async { self.run(lane) } }
    }

    /// Does what waits, one work after the other. None is held longer than it runs.
    private func run(_ lane: Int) {
        while let work = nextWork(of: lane) { work() }
    }

    /// - Returns: `nil`: nothing waits, and the lane is free.
    private func nextWork(of lane: Int) -> (@Sendable () -> Void)? {
        turns.withLock { turns in
            let next = turns.next()
            if next == nil { turns.free.append(lane) }
            return next
        }
    }
}
