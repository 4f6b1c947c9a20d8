import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Works that one worker does one after the other, and the rule of when another one has to help: a value.
///
/// | event | and                                                        | follows                            |
/// |-------|------------------------------------------------------------|------------------------------------|
/// | look  | works wait, there is no worker                             | one begins                         |
/// | look  | works wait, each worker is at its work for `patience`      | one more begins                    |
/// | look  | a work waits for `patience`, there are few workers         | one more begins                    |
/// | look  | any other                                                  | nothing                            |
/// | next  | a work waits                                               | the worker takes it                |
/// | next  | none waits                                                 | the worker ends                    |
///
/// So works that take a moment cost one thread, one that is held up by foreign code holds up the others for
/// `patience`, and a crowd of them has as many threads as there are processors.
struct WorkLine<Work> {
    /// Seconds that a worker may spend on one work before others go past it.
    static var patience: Double { 0.01 }

    private let processorCount: Int
    private var waiting = Fifo<(work: Work, since: MonotonicTime)>()
    /// The workers, and when each began its work.
    private var workers: [(number: Int, since: MonotonicTime)] = []
    private var lastNumber = 0

    /// - Parameter processorCount: the number of workers that is not few.
    init(processorCount: Int) {
        self.processorCount = processorCount
    }

    mutating func append(_ work: Work, now: MonotonicTime) {
        waiting.append((work, now))
    }

    /// - Returns: the number of a worker that has to begin; `nil`: there are enough.
    mutating func look(now: MonotonicTime) -> Int? {
        guard let first = waiting.first else { return nil }
        let isLate = first.since + Self.patience <= now && workers.count < processorCount
        guard isLate || workers.allSatisfy({ $0.since + Self.patience <= now }) else { return nil }
        lastNumber += 1
        workers.append((lastNumber, now))
        return lastNumber
    }

    /// The next work of a worker; `nil`: it ends.
    mutating func next(for worker: Int, now: MonotonicTime) -> Work? {
        guard let index = workers.firstIndex(where: { $0.number == worker }) else { return nil }
        guard let next = waiting.popFirst() else {
            workers.remove(at: index)
            return nil
        }
        workers[index].since = now
        return next.work
    }

    /// The time of the next ``look(now:)``; `nil`: none is needed before the next append.
    var nextLook: MonotonicTime? {
        guard let first = waiting.first, let stuck = workers.map(\.since).max() else { return nil }
        return (workers.count < processorCount ? min(first.since, stuck) : stuck) + Self.patience
    }
}

/// The quick works that passes of the network thread leave to another thread. Each half of a pass wakes one
/// thread at most, whatever it leaves: a thread for each end of a request would cost more than the work.
final class PassWork: Sendable {
    private let line = Locked(
        WorkLine<@Sendable () -> Void>(processorCount: ProcessInfo.processInfo.activeProcessorCount)
    )
    private let queue = DispatchQueue(label: "OperationNetworking.ends", attributes: .concurrent)

    /// Leaves a work that does not wait for anything. Handed over by the next ``handOver(now:)``.
    func append(_ work: @escaping @Sendable () -> Void) {
        line.withLock { $0.append(work, now: MonotonicTime.now) }
    }

    /// Called in each pass, after what other threads wanted and at its end, and at the time that it returned.
    /// - Returns: the time of the next call, unless a pass comes first; `nil`: none is needed.
    func handOver(now: MonotonicTime) -> MonotonicTime? {
        let (worker, nextLook) = line.withLock { line in (line.look(now: now), line.nextLook) }
        if let worker { queue.async { self.work(as: worker) } }
        return nextLook
    }

    private func work(as worker: Int) {
        while let work = line.withLock({ $0.next(for: worker, now: MonotonicTime.now) }) { work() }
    }
}
