import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The one thread on which libcurl runs. It is made at first use, sleeps in its run loop, and never ends.
///
/// The system may have no thread left (`RLIMIT_NPROC`, `pids.max`). Then each operation that starts tries to
/// make it, and fails at once if that is not possible; no exchange begins without it.
///
/// After `fork` without `exec` it does not exist in the child, and nothing works there, as in all of
/// Foundation.
final class NetworkThread: Sendable {
    static let shared = NetworkThread()

    private let inbox = Inbox()
    private let passWork = PassWork()
    /// Itself, once it runs.
    private let identity = Locked<ThreadIdentity?>(nil)
    private let isMade = Locked(false)

    private init() {}

    // MARK: - Its start

    /// Why there is no network thread; `nil`: it is there. Makes it if that can be done now, and does not
    /// wait.
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

    /// Waits on the new thread until there are descriptors for its run loop, looking whenever something is
    /// asked for. Until then each transfer ends with the reason.
    /// - Returns: what was asked for that needs the run loop.
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

    // MARK: - Its work

    /// Runs `work` on the network thread after everything already asked for. Callable from any thread;
    /// returns at once. Nothing that may wait, or runs the run loop, belongs in there: every transfer of the
    /// process would wait with it.
    /// - Parameters:
    ///   - isUrgent: whether bodies that move make way for it: it starts, stops or holds something. What a
    ///     moving body asks for itself is not.
    ///   - work: what to do.
    func perform(isUrgent: Bool = false, _ work: @escaping @Sendable (NetworkContext) -> Void) {
        append(.network(work), isUrgent: isUrgent)
    }

    /// Without a thread the work waits in the inbox, and the next one who wants something tries again.
    private func append(_ work: NetworkWork, isUrgent: Bool = false) {
        if inbox.append(work, isUrgent: isUrgent) { _ = obstacle() }
    }

    /// Runs `work` on another thread after the pass that goes on now. It must not wait for anything: others
    /// come after it. Called on the network thread.
    func leave(_ work: @escaping @Sendable () -> Void) {
        passWork.append(work)
    }

    /// The answer of the network thread to a question, after everything already asked for. Waits for it,
    /// which that thread itself cannot: there it is `nil`. So it is where there is no network thread, and
    /// nothing to ask it for.
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

    /// Lends the thread's run loop to `body`, after everything already asked for. Callable from any thread.
    func withRunLoop(_ body: @escaping @Sendable (RunLoop) -> Void) {
        append(.loop { loop in loop.lend(to: body) })
    }

    /// Lets transfers move while the thread's run loop runs in these modes, too.
    func add(modes: Set<RunLoop.Mode>) {
        append(.loop { loop in loop.add(to: modes) })
    }
}
