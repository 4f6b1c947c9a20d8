internal import Dispatch
internal import OperationNetworkingSystem

/// A queue for work that may block, for example on another process, with a limit on concurrent execution.
///
/// Work starts in order. Waiting work occupies no thread, and running work occupies threads of the queue's
/// own. So a blocked queue only delays the operations whose serializers use it.
public final class ProcessingQueue: Sendable {
    /// The maximum number of closures that run at the same time.
    public let width: Int
    private let lanes: [DispatchQueue]
    private let turns: Locked<Turns>

    /// The idle lanes, and the work that waits for one.
    private struct Turns {
        var free: [Int]
        private var waiting: [(@Sendable () -> Void)?] = []
        /// The index of the next closure.
        private var first = 0

        init(free: [Int]) {
            self.free = free
        }

        mutating func append(_ work: @escaping @Sendable () -> Void) {
            waiting.append(work)
        }

        /// Removes the next closure. The queue does not keep it alive while it runs.
        mutating func next() -> (@Sendable () -> Void)? {
            guard first < waiting.count else { return nil }
            let work = waiting[first].take()
            first += 1
            // Amortized constant time.
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
    ///   - label: the name of the queue in debuggers.
    ///   - width: the maximum number of closures that run at the same time; at least 1.
    public init(label: String, width: Int) {
        self.width = max(1, width)
        // Serial queues have threads of their own, whereas concurrent queues share a pool.
        lanes = (0..<max(1, width)).map { DispatchQueue(label: "\(label).\($0)") }
        turns = Locked(Turns(free: Array(lanes.indices)))
    }

    /// Schedules `work` and returns at once.
    public func async(_ work: @escaping @Sendable () -> Void) {
        let lane = turns.withLock { turns in
            turns.append(work)
            return turns.free.popLast()
        }
        if let lane { lanes[lane].async { self.run(lane) } }
    }

    /// Runs waiting closures one after the other. None is kept alive after it has run.
    private func run(_ lane: Int) {
        while let work = nextWork(of: lane) { work() }
    }

    /// - Returns: `nil` if nothing waits. The lane is idle then.
    private func nextWork(of lane: Int) -> (@Sendable () -> Void)? {
        turns.withLock { turns in
            let next = turns.next()
            if next == nil { turns.free.append(lane) }
            return next
        }
    }
}
