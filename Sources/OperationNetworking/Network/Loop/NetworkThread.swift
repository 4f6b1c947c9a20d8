import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The one thread on which libcurl runs. It is made at first use, sleeps in its run loop, and never ends.
///
/// The system may have no thread left (`RLIMIT_NPROC`, `pids.max`). Then each operation that starts waits a
/// little for one, and fails (``ThreadMaking``); no exchange begins without it.
///
/// After `fork` without `exec` it does not exist in the child, and nothing works there, as in all of
/// Foundation.
final class NetworkThread: Sendable {
    static let shared = NetworkThread()

    private let inbox = Inbox()
    private let passWork = PassWork()
    /// Itself, once it runs.
    private let identity = Locked<ThreadIdentity?>(nil)
    private let making = Locked(ThreadMaking())

    private init() {}

    // MARK: - Its start

    /// Waits on the calling thread, which may hold no lock, until the network thread is there: at most
    /// ``ThreadMaking/patience`` seconds and one pause between two tries, which is a quarter of a second.
    func waitUntilMade() {
        while let pause = making.withLock({ attempt(&$0)?.pause }) { Thread.sleep(forTimeInterval: pause) }
    }

    /// Why there is no network thread; `nil`: it is there. Makes it if that can be done now, and does not
    /// wait.
    func obstacle() -> SystemError? { making.withLock { attempt(&$0)?.error } }

    /// - Returns: `nil` if the thread is there.
    private func attempt(_ making: inout ThreadMaking) -> (error: SystemError, pause: Double?)? {
        guard !making.isDone else { return nil }
        do throws(SystemError) {
            try start()
            making.didMake()
            return nil
        } catch {
            return (error, making.didFail(now: .now))
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
            let room = NetworkRoom(transfers)
            let kept = Self.waitForDescriptors(room, inbox, passWork)
            let loop = NetworkLoop(room, inbox: inbox, first: kept, passWork: passWork)
            if let wake = transfers.wakeDescriptor { inbox.open(signaling: wake) }
            return loop
        }
    }

    /// Waits on the new thread until there are descriptors for its run loop, looking whenever something is
    /// asked for. Until then each transfer ends with the reason.
    /// - Returns: what was asked for that needs the run loop.
    private static func waitForDescriptors(
        _ room: NetworkRoom,
        _ inbox: Inbox,
        _ passWork: PassWork
    ) -> [NetworkWork] {
        var kept: [NetworkWork] = []
        var nextLook: MonotonicTime?
        while true {
            inbox.waitForWork(until: nextLook)
            do throws(SystemError) {
                try room.transfers.open()
                return kept
            } catch {
                for work in inbox.takeAll() {
                    if case .room(let body) = work { body(room) } else { kept.append(work) }
                }
                while let tell = room.transfers.nextEnd() { tell() }
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
    func perform(isUrgent: Bool = false, _ work: @escaping @Sendable (NetworkRoom) -> Void) {
        append(.room(work), isUrgent: isUrgent)
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
    func answer<Answer: Sendable>(_ question: @escaping @Sendable (NetworkRoom) -> Answer) -> Answer? {
        guard obstacle() == nil, identity.withLock({ $0?.isCurrent != true }) else { return nil }
        let (answer, isThere) = (Locked<Answer?>(nil), DispatchSemaphore(value: 0))
        perform { room in
            answer.withLock { $0 = question(room) }
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

/// The making of the network thread, and how long an operation waits for it: a value that does nothing.
///
/// The system may have no thread left, of the user or of a container, for a moment or for long. An operation
/// that starts then tries again and waits in between, on the thread that called `start()`: a queue's worker
/// or the caller's own, and no lock is held. All operations share one count of the time, so a hundred of them
/// do not wait a hundred times as long.
///
/// | The failures before this one                | The caller                                              |
/// |---------------------------------------------|---------------------------------------------------------|
/// | none, or the last was over 2 s ago          | waits 1 ms                                              |
/// | the first was less than 2 s ago             | waits once more as long, at least 1 ms, at most 250 ms  |
/// | the first was 2 s ago or more               | does not wait: the operation fails                      |
///
/// The operation that comes after that tries once, and so does each later one: the first to get the thread
/// makes it for all.
struct ThreadMaking {
    /// Seconds from the first failure until operations fail.
    static let patience = 2.0
    /// Seconds between two tries.
    private static let pauses = 0.001...0.25

    /// Whether the thread was made; it never ends.
    private(set) var isDone = false
    /// The moments of the first and the last failure, with less than `patience` between each two of them.
    private var lack: (first: MonotonicTime, last: MonotonicTime)?

    /// The thread was made.
    mutating func didMake() {
        isDone = true
        lack = nil
    }

    /// The thread could not be made.
    /// - Returns: the seconds until the next try; `nil`: it has been waited for long enough.
    mutating func didFail(now: MonotonicTime) -> Double? {
        guard let lack, now - lack.last <= Self.patience else {
            lack = (now, now)
            return Self.pauses.lowerBound
        }
        self.lack = (lack.first, now)
        let age = now - lack.first
        guard age < Self.patience else { return nil }
        return min(max(age, Self.pauses.lowerBound), Self.pauses.upperBound)
    }
}
