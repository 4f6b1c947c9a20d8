import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Work items that one worker does one after another, and the rule when another worker is needed. A value.
///
/// | event | and                                                      | follows                   |
/// |-------|----------------------------------------------------------|---------------------------|
/// | look  | items wait, there is no worker                           | a worker begins           |
/// | look  | items wait, each worker has been busy for `stallTime`     | another worker begins     |
/// | look  | an item has waited for `stallTime`, there are few workers | another worker begins     |
/// | look  | any other                                                | nothing                   |
/// | next  | an item waits                                            | the worker takes it       |
/// | next  | none waits                                               | the worker ends           |
///
/// So short items cost one thread, an item that is blocked by foreign code holds up the others for
/// `stallTime`, and a crowd of them has as many threads as there are processors.
struct WorkLine<Work> {
    /// The seconds that a worker may spend on one item before others pass it.
    static var stallTime: Double { 0.01 }

    private let processorCount: Int
    private var waiting = Fifo<(work: Work, since: MonotonicTime)>()
    /// The workers, and when each began its item.
    private var workers: [(number: Int, since: MonotonicTime)] = []
    private var lastNumber = 0

    /// - Parameter processorCount: the number of workers below which there are few.
    init(processorCount: Int) {
        self.processorCount = processorCount
    }

    mutating func append(_ work: Work, now: MonotonicTime) {
        waiting.append((work, now))
    }

    /// - Returns: the number of a worker that has to begin; `nil` if there are enough.
    mutating func look(now: MonotonicTime) -> Int? {
        guard let first = waiting.first else { return nil }
        let isLate = first.since + Self.stallTime <= now && workers.count < processorCount
        guard isLate || workers.allSatisfy({ $0.since + Self.stallTime <= now }) else { return nil }
        lastNumber += 1
        workers.append((lastNumber, now))
        return lastNumber
    }

    /// Returns the next item of a worker, which ends if this is `nil`.
    mutating func next(for worker: Int, now: MonotonicTime) -> Work? {
        guard let index = workers.firstIndex(where: { $0.number == worker }) else { return nil }
        guard let next = waiting.popFirst() else {
            workers.remove(at: index)
            return nil
        }
        workers[index].since = now
        return next.work
    }

    /// The time of the next ``look(now:)``; `nil` if none is needed before the next append.
    var nextLook: MonotonicTime? {
        guard let first = waiting.first, let stuck = workers.map(\.since).max() else { return nil }
        return (workers.count < processorCount ? min(first.since, stuck) : stuck) + Self.stallTime
    }
}

/// The short work items that passes of the network thread leave to another thread. Each half of a pass wakes
/// at most one thread: a thread for each end of a request would cost more than the work.
final class PassWork: Sendable {
    /// A closure that is stored in a generic type by itself is wrapped, which allocates.
    private struct Item {
        let run: @Sendable () -> Void
    }

    private let line = Locked(
        WorkLine<Item>(processorCount: ProcessInfo.processInfo.activeProcessorCount)
    )
    private let queue = DispatchQueue(label: "OperationNetworking.ends", attributes: .concurrent)

    /// Adds an item, which must not block. The next ``handOver(now:)`` passes it to a thread.
    func append(_ work: @escaping @Sendable () -> Void) {
        line.withLock { $0.append(Item(run: work), now: MonotonicTime.now) }
    }

    /// Passes the items to a thread. Called in each pass, after the work of other threads and at its end, and
    /// at the time that it returned.
    /// - Returns: the time of the next call, unless a pass comes first; `nil` if none is needed.
    func handOver(now: MonotonicTime) -> MonotonicTime? {
        let (worker, nextLook) = line.withLock { line in (line.look(now: now), line.nextLook) }
        if let worker { queue.async { self.work(as: worker) } }
        return nextLook
    }

    private func work(as worker: Int) {
        while let item = line.withLock({ $0.next(for: worker, now: MonotonicTime.now) }) { item.run() }
    }
}
