import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The one thread on which libcurl runs. It is made at first use, sleeps in its run loop, and never ends.
///
/// After `fork` without `exec` it does not exist in the child, and nothing works there, as in all of Foundation.
final class NetworkThread: Sendable {
    /// What is done on the thread.
    enum Work: Sendable {
        case transfers(@Sendable (Transfers) -> Void)
        /// Needs the run loop; waits until there is one.
        case loop(@Sendable (NetworkLoop) -> Void)
    }

    static let shared = NetworkThread()

    private let inbox = Inbox()

    private init() {
        let inbox = inbox
        RunLoopThread.start(name: "OperationNetworking") {
            let transfers = Transfers()
            let kept = Self.waitForDescriptors(transfers, inbox)
            let loop = NetworkLoop(transfers, inbox: inbox, first: kept)
            inbox.open(waking: loop.wake)
            return loop
        }
    }

    /// Waits on the new thread until there are descriptors for its run loop, looking whenever something is asked for.
    /// Until then each transfer ends with the reason.
    /// - Returns: what was asked for that needs the run loop.
    private static func waitForDescriptors(_ transfers: Transfers, _ inbox: Inbox) -> [Work] {
        var kept: [Work] = []
        while true {
            inbox.waitForWork()
            do throws(SystemError) {
                try transfers.open()
                return kept
            } catch {
                for work in inbox.takeAll() {
                    if case .transfers(let body) = work { body(transfers) } else { kept.append(work) }
                }
                while let tell = transfers.nextEnd() { tell() }
            }
        }
    }

    /// Runs `work` on the network thread after everything already asked for. Callable from any thread; returns at
    /// once. Nothing that may wait, or runs the run loop, belongs in there: every transfer of the process would wait
    /// with it.
    func perform(_ work: @escaping @Sendable (Transfers) -> Void) {
        inbox.append(.transfers(work))
    }

    /// Lends the thread's run loop to `body`, after everything already asked for. Callable from any thread.
    func withRunLoop(_ body: @escaping @Sendable (RunLoop) -> Void) {
        inbox.append(.loop { loop in loop.lend(to: body) })
    }

    /// Lets transfers move while the thread's run loop runs in these modes, too.
    func add(modes: Set<RunLoop.Mode>) {
        inbox.append(.loop { loop in loop.add(to: modes) })
    }
}

/// What other threads want done, in order.
final class Inbox: Sendable {
    private struct State {
        var work: [NetworkThread.Work] = []
        var wake: RunLoopSource?
    }

    private let state = Locked(State())
    /// Signaled as long as there is nothing else to wake.
    private let firstWork = DispatchSemaphore(value: 0)

    func append(_ work: NetworkThread.Work) {
        let (isFirst, wake) = state.withLock { state in
            state.work.append(work)
            return (state.work.count == 1, state.wake)
        }
        guard isFirst else { return }
        if let wake { wake.signal() } else { firstWork.signal() }
    }

    /// Waits until there may be work. Not once the inbox is open.
    func waitForWork() {
        firstWork.wait()
    }

    /// All there is; the inbox is empty afterwards.
    func takeAll() -> [NetworkThread.Work] {
        state.withLock { state in
            defer { state.work = [] }
            return state.work
        }
    }

    /// From now on somebody empties it.
    func open(waking source: RunLoopSource) {
        state.withLock { $0.wake = source }
        source.signal()
    }
}
