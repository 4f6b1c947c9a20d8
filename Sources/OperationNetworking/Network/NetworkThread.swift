import Foundation
internal import OperationNetworkingSystem

/// The one thread on which libcurl runs. It is made at first use, sleeps in its run loop, and never ends.
///
/// After `fork` without `exec` it does not exist in the child, and nothing works there, as in all of Foundation.
final class NetworkThread: Sendable {
    typealias Work = @Sendable (NetworkLoop) -> Void

    static let shared = NetworkThread()

    private let inbox = Inbox()

    private init() {
        let inbox = inbox
        RunLoopThread.start(name: "OperationNetworking") {
            let loop = NetworkLoop(inbox: inbox)
            inbox.open(waking: loop.wake)
            return loop
        }
    }

    /// Runs `work` on the network thread after everything already asked for. Callable from any thread; returns at
    /// once. Nothing that may wait, or runs the run loop, belongs in there: every transfer of the process would wait
    /// with it.
    func perform(_ work: @escaping @Sendable (Transfers) -> Void) {
        inbox.append { loop in work(loop.transfers) }
    }

    /// Lends the thread's run loop to `body`, after everything already asked for. Callable from any thread.
    func withRunLoop(_ body: @escaping @Sendable (RunLoop) -> Void) {
        inbox.append { loop in loop.lend(to: body) }
    }

    /// Lets transfers move while the thread's run loop runs in these modes, too.
    func add(modes: Set<RunLoop.Mode>) {
        inbox.append { loop in loop.add(to: modes) }
    }
}

/// What other threads want done, in order.
final class Inbox: Sendable {
    private struct State {
        var work: [NetworkThread.Work] = []
        var wake: RunLoopSource?
    }

    private let state = Locked(State())

    func append(_ work: @escaping NetworkThread.Work) {
        let wake = state.withLock { state in
            state.work.append(work)
            return state.work.count == 1 ? state.wake : nil
        }
        wake?.signal()
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
