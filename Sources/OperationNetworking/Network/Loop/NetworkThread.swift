import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The one thread on which libcurl runs. It is created on first use, sleeps in its run loop, and never ends.
///
/// The system may have no thread left (`RLIMIT_NPROC`, `pids.max`). Then each operation that starts tries to
/// create it, and fails at once if that is not possible; no exchange begins without the thread.
///
/// After `fork` without `exec` the thread does not exist in the child, and nothing works there, as with all
/// of Foundation.
final class NetworkThread: Sendable {
    static let shared = NetworkThread()

    private let inbox = Inbox()
    private let passWork = PassWork()
    /// The thread's identity, once it runs.
    private let identity = Locked<ThreadIdentity?>(nil)
    private let isMade = Locked(false)

    private init() {}

    // MARK: - Start

    /// Why there is no network thread; `nil` if there is. Creates it if possible, without blocking.
    func obstacle() -> SystemError? {
        isMade.withLock { isMade in
            guard !isMade else { return nil }
            do throws(SystemError) {
                try start()
                isMade = true
                return nil
            } catch {
                return error
            }
        }
    }

    private func start() throws(SystemError) {
        let (inbox, passWork, identity) = (inbox, passWork, identity)
        try RunLoopThread.start(name: "OperationNetworking") {
            identity.withLock { $0 = .current }
            let transfers = Transfers(
                isAwaited: { inbox.isUrgent },
                post: { work in NetworkThread.shared.perform { work($0.transfers) } }
            )
            let network = NetworkContext(transfers)
            let kept = Self.waitForDescriptors(network, inbox, passWork)
            let loop = NetworkLoop(network, inbox: inbox, first: kept, passWork: passWork)
            if let wake = transfers.wakeDescriptor { inbox.open(signaling: wake) }
            return loop
        }
    }

    /// Blocks the new thread until there are descriptors for its run loop, checking whenever work arrives.
    /// Until then each transfer fails with the reason.
    /// - Returns: the work that needs the run loop.
    private static func waitForDescriptors(
        _ network: NetworkContext,
        _ inbox: Inbox,
        _ passWork: PassWork
    ) -> [NetworkWork] {
        var kept: [NetworkWork] = []
        var nextLook: MonotonicTime?
        while true {
            inbox.waitForWork(until: nextLook)
            do throws(SystemError) {
                try network.transfers.open()
                return kept
            } catch {
                for work in inbox.takeAll() {
                    if case .network(let body) = work { body(network) } else { kept.append(work) }
                }
                while let next = network.transfers.nextEnd() { next.client.transferDidComplete(next.end) }
                nextLook = passWork.handOver(now: MonotonicTime.now)
            }
        }
    }

    // MARK: - Work

    /// Runs `work` on the network thread, after everything already posted. Callable from any thread; returns
    /// at once. `work` must not block or run the run loop: every transfer of the process would wait.
    /// - Parameters:
    ///   - isUrgent: whether running bodies yield to it, because it starts, stops or holds something.
    ///     Requests of a running body itself are not urgent.
    ///   - work: the work.
    func perform(isUrgent: Bool = false, _ work: @escaping @Sendable (NetworkContext) -> Void) {
        append(.network(work), isUrgent: isUrgent)
    }

    /// Without a thread the work waits in the inbox, and the next append tries again to create one.
    private func append(_ work: NetworkWork, isUrgent: Bool = false) {
        if inbox.append(work, isUrgent: isUrgent) { _ = obstacle() }
    }

    /// Runs `work` on another thread after the current pass. `work` must not block, because more follows it.
    /// Called on the network thread.
    func leave(_ work: @escaping @Sendable () -> Void) {
        passWork.append(work)
    }

    /// Returns the network thread's answer to a question, after everything already posted. Blocks until then.
    /// `nil` on the network thread itself, which cannot wait for itself, and if there is no network thread.
    func answer<Answer: Sendable>(_ question: @escaping @Sendable (NetworkContext) -> Answer) -> Answer? {
        guard obstacle() == nil, identity.withLock({ $0?.isCurrent != true }) else { return nil }
        let (answer, isThere) = (Locked<Answer?>(nil), DispatchSemaphore(value: 0))
        perform { network in
            answer.withLock { $0 = question(network) }
            isThere.signal()
        }
        isThere.wait()
        return answer.withLock { $0 }
    }

    /// Lends the thread's run loop to `body`, after everything already posted. Callable from any thread.
    func withRunLoop(_ body: @escaping @Sendable (RunLoop) -> Void) {
        append(.loop { loop in loop.lend(to: body) })
    }

    /// Makes transfers also progress while the thread's run loop runs in these modes.
    func add(modes: Set<RunLoop.Mode>) {
        append(.loop { loop in loop.add(to: modes) })
    }
}
