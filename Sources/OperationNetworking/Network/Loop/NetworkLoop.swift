import Foundation
internal import OperationNetworkingSystem

/// The work of the network thread: three run loop sources that drive libcurl's multi socket interface.
///
/// | source  | what it is                                 | what makes it ready                              |
/// |---------|--------------------------------------------|--------------------------------------------------|
/// | sockets | version 1 source on the `epoll` descriptor | a socket; another thread's append to the inbox   |
/// | again   | version 0 source                           | a pass that asks for another one                 |
/// | timer   | run loop timer                             | time                                             |
///
/// All three do the same: one pass over everything. Sockets are reported once per edge, so a pass that found
/// some ready asks for another; only a pass that found none proves quiet. It never loops by itself: with a
/// few fast downloads a loop would not end, and a cancel in the inbox would wait.
final class NetworkLoop {
    /// Asks for another pass, from this thread.
    private let again: RunLoopSource
    private let network: NetworkContext
    private let transfers: Transfers
    private let inbox: Inbox
    private let passWork: PassWork
    private let hands: Hands
    private let sockets: RunLoopPort
    private let timer: RunLoopTimer
    private var work = Fifo<NetworkWork>()
    private var armed: MonotonicTime?
    private var modes: Set<RunLoop.Mode> = []
    private var isDue = false

    /// On the network thread, with transfers that are open and work that waited for the run loop.
    init(_ network: NetworkContext, inbox: Inbox, first: [NetworkWork], passWork: PassWork) {
        let hands = Hands()
        self.network = network
        transfers = network.transfers
        self.inbox = inbox
        self.passWork = passWork
        self.hands = hands
        work.append(contentsOf: first)
        again = RunLoopSource { hands.loop?.pass() }
        sockets = RunLoopPort(descriptor: transfers.descriptor) { hands.loop?.pass() }
        timer = RunLoopTimer { hands.loop?.timerDidFire() }
        hands.loop = self
        add(to: [.common])
    }

    /// Lets transfers move while the run loop runs in these modes, too. Without descriptors for a new mode it
    /// is left out until it is asked for again.
    func add(to newModes: Set<RunLoop.Mode>) {
        for mode in newModes.subtracting(modes) {
            guard RunLoopThread.canMakeMode(with: transfers.descriptor) else { return }
            again.add(to: mode)
            sockets.add(to: mode)
            timer.add(to: mode)
            modes.insert(mode)
        }
    }

    /// Lends the run loop to a closure, which may run it nested. Then the rest of this pass must come in
    /// another one: its trigger is used up.
    func lend(to body: (RunLoop) -> Void) {
        again.signal()
        body(RunLoop.current)
    }

    private func timerDidFire() {
        armed = nil
        pass()
    }

    /// Everything there is to do, once. A nested run of the run loop calls it again in the middle of itself.
    private func pass() {
        guard !transfers.isInsideCurl else {
            // Asking for another pass right now would make the nested loop spin.
            isDue = true
            return
        }
        work.append(contentsOf: inbox.takeAll())
        // One by one from a property: nested, the rest still comes in order.
        while let next = work.popFirst() {
            switch next {
            case .network(let body): body(network)
            case .loop(let body): body(self)
            }
        }
        // The ends of what was cancelled need not wait for what moves now.
        arm(passWork.handOver(now: MonotonicTime.now))
        let mayHaveMore = transfers.pass()
        if mayHaveMore || isDue || transfers.wasWoken && !inbox.isEmpty {
            isDue = false
            again.signal()
        }
        arm(transfers.nextDeadline)
        tellEnds()
        arm(passWork.handOver(now: MonotonicTime.now))
    }

    /// The last thing in a pass: a nested run of the loop in there finds everything armed, and the rest of
    /// the ends asked for.
    private func tellEnds() {
        while let next = transfers.nextEnd() {
            if transfers.hasWork { again.signal() }
            next.client.transferDidComplete(next.end)
        }
        if transfers.hasWork { again.signal() }
    }

    /// Moves the timer only if it would be late: one that is early costs a pass, moving it costs system
    /// calls.
    private func arm(_ deadline: MonotonicTime?) {
        guard let deadline else { return }
        if let armed, armed <= deadline { return }
        armed = deadline
        timer.fire(after: max(0, deadline - MonotonicTime.now))
    }

    /// Lets the sources' handlers reach the loop, which is complete only after they are made.
    private final class Hands {
        weak var loop: NetworkLoop?
    }
}
