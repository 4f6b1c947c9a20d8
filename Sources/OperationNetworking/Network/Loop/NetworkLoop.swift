import Foundation
internal import OperationNetworkingSystem

/// The work of the network thread: three run loop sources that drive libcurl's multi socket interface.
///
/// | source  | kind                                       | becomes ready by                                 |
/// |---------|--------------------------------------------|--------------------------------------------------|
/// | sockets | version 1 source on the `epoll` descriptor | a socket; another thread's append to the inbox   |
/// | again   | version 0 source                           | a pass that requests another one                 |
/// | timer   | run loop timer                             | time                                             |
///
/// All three do the same: one pass over everything. Sockets are reported once per edge, so a pass that found
/// some ready requests another one; only a pass that found none proves that nothing is ready. A pass does not
/// loop: with a few fast downloads it would not end, and a cancel in the inbox would wait.
final class NetworkLoop {
    /// Requests another pass, from this thread.
    private let again: RunLoopSource
    private let network: NetworkContext
    private let transfers: Transfers
    private let inbox: Inbox
    private let passWork: PassWork
    private let reference: LoopReference
    private let sockets: RunLoopPort
    private let timer: RunLoopTimer
    private var work = Fifo<NetworkWork>()
    private var armed: MonotonicTime?
    private var modes: Set<RunLoop.Mode> = []
    private var isDue = false

    /// Creates the loop on the network thread, with open transfers and the work that waited for the run loop.
    init(_ network: NetworkContext, inbox: Inbox, first: [NetworkWork], passWork: PassWork) {
        let reference = LoopReference()
        self.network = network
        transfers = network.transfers
        self.inbox = inbox
        self.passWork = passWork
        self.reference = reference
        work.append(contentsOf: first)
        again = RunLoopSource { reference.loop?.pass() }
        sockets = RunLoopPort(descriptor: transfers.descriptor) { reference.loop?.pass() }
        timer = RunLoopTimer { reference.loop?.timerDidFire() }
        reference.loop = self
        add(to: [.common])
    }

    /// Makes transfers also progress while the run loop runs in these modes. A mode for which there are no
    /// descriptors is skipped until it is added again.
    func add(to newModes: Set<RunLoop.Mode>) {
        for mode in newModes.subtracting(modes) {
            guard RunLoopThread.canMakeMode(with: transfers.descriptor) else { return }
            again.add(to: mode)
            sockets.add(to: mode)
            timer.add(to: mode)
            modes.insert(mode)
        }
    }

    /// Lends the run loop to a closure, which may run it nested. The rest of this pass then has to be done in
    /// another one, because its trigger is used up.
    func lend(to body: (RunLoop) -> Void) {
        again.signal()
        body(RunLoop.current)
    }

    private func timerDidFire() {
        armed = nil
        pass()
    }

    /// Does all pending work once. A nested run of the run loop calls this recursively.
    private func pass() {
        guard !transfers.isInsideCurl else {
            // Requesting another pass right now would make the nested loop spin.
            isDue = true
            return
        }
        work.append(contentsOf: inbox.takeAll())
        // One by one from a property, so that a nested run handles the rest in order.
        while let next = work.popFirst() {
            switch next {
            case .network(let body): body(network)
            case .loop(let body): body(self)
            }
        }
        // The ends of cancelled transfers do not wait for the running ones.
        arm(passWork.handOver(now: MonotonicTime.now))
        let mayHaveMore = transfers.pass()
        if mayHaveMore || isDue || transfers.wasWoken && !inbox.isEmpty {
            isDue = false
            again.signal()
        }
        arm(transfers.nextDeadline)
        reportEnds()
        arm(passWork.handOver(now: MonotonicTime.now))
    }

    /// The last step of a pass: a nested run of the loop finds everything armed, and another pass requested
    /// for the remaining ends.
    private func reportEnds() {
        while let next = transfers.nextEnd() {
            if transfers.hasWork { again.signal() }
            next.client.transferDidComplete(next.end)
        }
        if transfers.hasWork { again.signal() }
    }

    /// Moves the timer only if it would be late: an early timer costs a pass, but moving it costs system
    /// calls.
    private func arm(_ deadline: MonotonicTime?) {
        guard let deadline else { return }
        if let armed, armed <= deadline { return }
        armed = deadline
        timer.fire(after: max(0, deadline - MonotonicTime.now))
    }

    /// Gives the sources' handlers access to the loop, which is complete only after they have been created.
    private final class LoopReference {
        weak var loop: NetworkLoop?
    }
}
