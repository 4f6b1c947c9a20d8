import Dispatch
import Foundation
internal import OperationNetworkingSystem

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
