import Dispatch
internal import OperationNetworkingSystem

/// The work that other threads want done, in order.
final class Inbox: Sendable {
    private struct State {
        var work: [NetworkWork] = []
        var isUrgent = false
        var wake: WakeDescriptor?
    }

    private let state = Locked(State())
    /// Signaled as long as there is nothing else to wake.
    private let firstWork = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - work: what to do.
    ///   - isUrgent: whether bodies that move make way for it.
    /// - Returns: whether the thread has not opened it yet: it may not be there.
    @discardableResult
    func append(_ work: NetworkWork, isUrgent: Bool = false) -> Bool {
        let (isFirst, wake) = state.withLock { state in
            state.work.append(work)
            if isUrgent { state.isUrgent = true }
            return (state.work.count == 1, state.wake)
        }
        if isFirst {
            if let wake { wake.signal() } else { firstWork.signal() }
        }
        return wake == nil
    }

    /// Waits until there may be work, or until a moment. Not once the inbox is open.
    func waitForWork(until end: MonotonicTime?) {
        if let end {
            _ = firstWork.wait(timeout: .now() + max(0, end - MonotonicTime.now))
        } else {
            firstWork.wait()
        }
    }

    /// Whether some of it is urgent.
    var isUrgent: Bool { state.withLock { $0.isUrgent } }

    var isEmpty: Bool { state.withLock { $0.work.isEmpty } }

    /// All there is; the inbox is empty afterwards.
    func takeAll() -> [NetworkWork] {
        state.withLock { state in
            defer {
                state.work = []
                state.isUrgent = false
            }
            return state.work
        }
    }

    /// Signals `wake`, on which it is emptied, now and at each append to an empty inbox.
    func open(signaling wake: WakeDescriptor) {
        state.withLock { $0.wake = wake }
        wake.signal()
    }
}
